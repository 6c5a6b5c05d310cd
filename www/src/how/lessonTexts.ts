// Six lessons: two sentences, a question to think about first, and its answer. Each opens as the model does it, so that what
// its question asks for is still to be done. What the answers claim is tested against the model that ships.

interface Lesson {
  readonly title: string;
  readonly question: string;
  readonly answer: string;
  readonly sentences: readonly [string, string];
  readonly conditions: readonly string[];
  /** The condition that is explained, by its place among the conditions. */
  readonly chosen: number;
}

export const lessons: readonly Lesson[] = [
  {
    title: "One pair, two answers",
    question: "She plays chess in the park, he plays football in the park. Are the two sentences alike?",
    answer:
      "It depends on what one asks. By the place they are almost the same, by the game they are not, and without a condition the number lies somewhere between. That is why a condition goes into the model together with each sentence.",
    sentences: ["She plays chess in the park", "He plays football in the park"],
    conditions: ["the place", "the game", "the person"],
    chosen: 0,
  },
  {
    title: "What does the condition do?",
    question: "Switch the condition off. What happens to the similarity, and which steps are left?",
    answer:
      "Without a condition each sentence is read by itself and only the mean of its tokens remains: one number for everything at once, in which the same red sofa makes up for the different animals. Switch the condition on again, and the two turn out to be unlike by the animal; choose the furniture, and they are nearly the same. Not a word of the sentences has changed.",
    sentences: ["A black dog sleeps on a red sofa.", "A white cat sleeps on a red sofa."],
    conditions: ["the type of animal", "the furniture"],
    chosen: 0,
  },
  {
    title: "Where does it look?",
    question: "Which words should “the number of people” look at? Guess, then look at the attention step.",
    answer:
      "In the last layer most of the attention to the first sentence goes to “Three”, and in the second “A lone” gets more than any other word: where you would look, too. But a good part stays with the condition itself and the marks, and the first layers look elsewhere. Attention is one of many things that shape the answer: a hint, not a proof.",
    sentences: ["Three children build a sandcastle on the beach.", "A lone surfer waits for a wave on the beach."],
    conditions: ["the number of people", "the location"],
    chosen: 0,
  },
  {
    title: "Layer by layer",
    question: "Move through the encoder’s layers in the attention step. Do the early layers look at the same words as the last one?",
    answer:
      "No. In the first layer the shares are nearly even; in the last one most goes to “spotless” and “filthy”. But a good part, a fifth and more, still goes to words and marks that say nothing about cleanliness: the model does not look at the right place alone. Each layer reads what the one before it wrote, and no single one is “the” explanation.",
    sentences: [
      "The hotel by the harbour was spotless, but breakfast cost thirty euros.",
      "Our hostel by the harbour was filthy, though breakfast was free.",
    ],
    conditions: ["the cleanliness", "the price of breakfast", "the location"],
    chosen: 0,
  },
  {
    title: "Subtract the condition",
    question: "The classical recipe, CASE, subtracts the condition’s own embedding. Switch the subtraction on: does it help here?",
    answer:
      "No: laughing and crying become more alike, not less. This encoder was fine-tuned without that step: part of what it learnt to say goes away with what is subtracted. CASE made the step for encoders that stay as they are: there the condition’s own words make any two readings look alike, and are taken away for that reason.",
    sentences: ["A man laughs on the phone in his kitchen.", "A woman cries on the phone in a crowded train."],
    conditions: ["the emotion of the person", "the device"],
    chosen: 0,
  },
  {
    title: "Which tokens count?",
    question: "The embedding is the mean of all tokens. What if only the condition’s tokens, or only the first one, are kept? Choose them under “What if?”.",
    answer:
      "Each token has read the whole input, so every choice gives an answer. The condition’s tokens come close to the mean of all; with the first token alone, a battery that is dead by noon and one that lasts for days become more alike. The encoder that ships was trained with the mean of all tokens, and is best used so.",
    sentences: [
      "The camera takes beautiful photos, but the battery is dead by noon.",
      "The camera takes blurry photos, but the battery lasts for days.",
    ],
    conditions: ["the photo quality", "the battery life", "the type of product"],
    chosen: 1,
  },
];
