//! What a condition asks about, told by its words: "The number of dogs." asks about a number.
//!
//! The rule: words are compared in lower case and, where a list has no plural, without a final s; the first
//! type in the order of [`ConditionType::ALL`] with a word of its list in the condition wins. So "the number
//! of people" is a number, "the colour of the dog" a colour, and "the activity of the animal" an activity.
//! The lists were written for conditions of image captions; what they do not know is "other".

use serde::Serialize;

/// What a condition asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConditionType {
    /// How many there are.
    Number,
    /// The colour of something.
    Colour,
    /// Weather, and time of day or year.
    Weather,
    /// What is done.
    Action,
    /// Where it is.
    Place,
    /// Somebody, and what they are like.
    Person,
    /// An animal.
    Animal,
    /// A thing.
    Object,
    /// What the lists do not know.
    Other,
}

const NUMBER: &str = "number amount quantity count many";
const COLOUR: &str = "color colour coloring colouring hue";
const WEATHER: &str = "weather time season day daytime night date hour year snow rain precipitation \
    temperature sky lighting sunlight climate";
const ACTION: &str = "activity activities action sport sporting game hobby hobbies motion movement event \
    speed position posture pose stance trick stunt exercise work occupation profession job task play \
    played playing performed performance riding ridden holding worn sitting standing walking running \
    jumping eating doing done competition race interaction intention purpose behavior behaviour use used \
    direction travel skating surfing skiing skateboarding cycling swimming dancing cooking means method \
    mode gesture stage";
const PLACE: &str = "location place setting room environment terrain surface background scene scenery \
    surrounding area landscape ground kitchen bathroom bedroom toilet restroom street road beach city \
    country building house home outdoor outdoors indoor indoors where proximity elevation height venue \
    park field mountain ocean sea river lake water wall floor track pool market station playground \
    urban rural geographic geographical distance";
const PERSON: &str = "person persons people man men woman women child children boy girl baby babies kid \
    adult human gender sex age player rider worker performer individual subject crowd group clothing \
    clothes cloth shirt hat dress outfit uniform attire costume accessory accessories helmet hair face \
    skateboarder surfer skier snowboarder cyclist biker athlete musician spectator observer participant \
    relationship emotion mood feeling expression identity ethnicity role team sentiment batter climber";
const ANIMAL: &str = "animal species dog cat horse bird elephant giraffe zebra bear cow sheep breed pet \
    fish wildlife mammal livestock puppy kitten insect";
const OBJECT: &str = "object item thing type types kind name category sort brand vehicle food meal dish \
    dishes fruit vegetable dessert cake pizza sandwich meat drink beverage wine furniture bed desk table \
    plate bowl device computer laptop electronics appliance toy ball board skateboard surfboard frisbee \
    instrument equipment tool sign traffic clock light bus train truck car boat plane aircraft bike \
    bicycle motorcycle umbrella material size shape style content contents product container decor \
    decoration transportation transport wheel flower plant vase structure ingredient";

impl ConditionType {
    /// In the order in which they are tried.
    pub const ALL: [Self; 9] = [
        Self::Number,
        Self::Colour,
        Self::Weather,
        Self::Action,
        Self::Place,
        Self::Person,
        Self::Animal,
        Self::Object,
        Self::Other,
    ];

    /// The type of a condition.
    pub fn of(condition: &str) -> Self {
        let lower = condition.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| !w.is_empty())
            .collect();
        let known = |list: &str| {
            list.split_whitespace().any(|known| {
                let same = |word: &&str| *word == known || word.strip_suffix('s') == Some(known);
                words.iter().any(same)
            })
        };
        Self::ALL
            .into_iter()
            .find(|kind| known(kind.words()))
            .unwrap_or(Self::Other)
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Colour => "colour",
            Self::Weather => "weather, time",
            Self::Action => "action, activity",
            Self::Place => "place, setting",
            Self::Person => "person, gender, age, clothing",
            Self::Animal => "animal",
            Self::Object => "object, type",
            Self::Other => "other",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Number => NUMBER,
            Self::Colour => COLOUR,
            Self::Weather => WEATHER,
            Self::Action => ACTION,
            Self::Place => PLACE,
            Self::Person => PERSON,
            Self::Animal => ANIMAL,
            Self::Object => OBJECT,
            Self::Other => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ConditionType::*;

    #[test]
    fn conditions_have_the_type_of_their_telling_word() {
        for (condition, kind) in [
            ("The number of people.", Number),
            ("how many cats there are", Number),
            ("The color of the dog", Colour),
            ("the time of day", Weather),
            ("the activity of the animal", Action),
            ("type of sports", Action),
            ("the location", Place),
            ("Type of room.", Place),
            ("the person's gender", Person),
            ("the species", Animal),
            ("type of animals", Animal),
            ("the kind of vehicle", Object),
            ("the absence of irony", Other),
            ("", Other),
        ] {
            assert_eq!(ConditionType::of(condition), kind, "{condition}");
        }
    }

    #[test]
    fn no_word_stands_in_two_lists() {
        let mut seen = std::collections::HashMap::new();
        for kind in ConditionType::ALL {
            for word in kind.words().split_whitespace() {
                if let Some(other) = seen.insert(word, kind) {
                    panic!("{word}: {other:?} and {kind:?}");
                }
            }
        }
    }
}
