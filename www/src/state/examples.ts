// A dozen pairs whose conditions pull apart. The first is what the page opens with. They are English in every language of the page,
// which has its own names for them.

export interface Example {
  readonly sentences: readonly [string, string];
  readonly conditions: readonly string[];
}

export const examples: readonly [Example, ...Example[]] = [
  {
    sentences: ["She plays chess in the park", "He plays football in the park"],
    conditions: ["the place", "the game", "the person"],
  },
  {
    sentences: [
      "Three children build a sandcastle on the beach.",
      "A lone surfer waits for a wave on the beach.",
    ],
    conditions: ["the location", "the number of people", "the age of the people"],
  },
  {
    sentences: ["A black dog sleeps on a red sofa.", "A brown dog runs through a green field."],
    conditions: ["the type of animal", "the color of the animal", "the activity", "the location"],
  },
  {
    sentences: [
      "A young woman in a white shirt serves in a tennis match.",
      "An old man in a white shirt returns the ball in a tennis match.",
    ],
    conditions: ["the sport", "the color of the shirt", "the age of the person", "the gender of the person"],
  },
  {
    sentences: [
      "The hotel by the harbour was spotless, but breakfast cost thirty euros.",
      "Our hostel by the harbour was filthy, though breakfast was free.",
    ],
    conditions: ["the location", "the cleanliness", "the price of breakfast"],
  },
  {
    sentences: [
      "The camera takes beautiful photos, but its battery dies within an hour.",
      "The camera takes blurry photos, but its battery lasts for days.",
    ],
    conditions: ["the type of product", "the photo quality", "the battery life"],
  },
  {
    sentences: ["Roast the peppers with garlic in the oven.", "Roast the apples with sugar in the oven."],
    conditions: ["the cooking method", "the main ingredient", "the taste"],
  },
  {
    sentences: [
      "I cannot log in to my account, I am furious, and it is urgent.",
      "I cannot log in to my account, but there is no hurry, thank you.",
    ],
    conditions: ["the problem", "the mood of the customer", "the urgency"],
  },
  {
    sentences: [
      "Thousands of people marched through the city on a sunny Monday.",
      "Three people waited in the city in heavy rain.",
    ],
    conditions: ["the location", "the weather", "the number of people"],
  },
  {
    sentences: ["A man laughs on the phone in his kitchen.", "A woman cries on the phone in a crowded train."],
    conditions: ["the device", "the emotion of the person", "the location", "the gender of the person"],
  },
  {
    sentences: [
      "A slow comedy about a widower who keeps bees.",
      "A fast thriller about a widower who robs banks.",
    ],
    conditions: ["the marital status", "the type of film", "the pace of the film"],
  },
  {
    sentences: [
      "The night train to Vienna left forty minutes late because of the snow.",
      "The morning bus to Vienna left on time despite the snow.",
    ],
    conditions: ["the destination", "the weather", "the vehicle", "the time of day"],
  },
];

/**
 * What was meant: whether people call the pair alike under each condition, in the order of the examples and their conditions. The page
 * does not need it; a test holds the model that ships to it.
 */
export const meant: readonly (readonly boolean[])[] = [
  [true, false, false],
  [true, false, false],
  [true, false, false, false],
  [true, true, false, false],
  [true, false, false],
  [true, false, false],
  [true, false, false],
  [true, false, false],
  [true, false, false],
  [true, false, false, false],
  [true, false, false],
  [true, true, false, false],
];
