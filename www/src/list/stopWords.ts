// English words that say nothing about what a text is about: articles, pronouns, auxiliaries, prepositions, conjunctions and the
// most frequent adverbs.

const words = `
a about above after again against ago all almost along already also although always am among an and another any anyone anything are aren't
around as at away back be became because become been before being below between both but by came can can't cannot come could couldn't
did didn't do does doesn't doing don't done down during each either else enough even ever every everyone everything few for from further
gave get gets getting give gives go goes going gone got had hadn't has hasn't have haven't having he he'd he'll he's hence her here here's hers
herself him himself his how however i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just keep keeps kept last least
less let let's like lot lots made make makes many may maybe me might mine more most much must my myself near nearly need needs neither never
next no nobody none nor not nothing now of off often on once one ones only onto or other others our ours ourselves out over own per perhaps
please put quite rather really same say says seem seems several shall she she'd she'll she's should shouldn't since so some somebody someone
something somewhat soon still such take takes taken than that that's the their theirs them themselves then there there's these they they'd
they'll they're they've thing things this those though three through thus till to together too took toward towards two under until up upon us
use used uses using very via want wants was wasn't we we'd we'll we're we've well went were weren't what what's when where which while who
whole whom whose why will with within without won't would wouldn't yet you you'd you'll you're you've your yours yourself yourselves
`;

export const stopWords: ReadonlySet<string> = new Set(words.trim().split(/\s+/));
