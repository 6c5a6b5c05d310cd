// Conditions that `suggest` tries by itself: aspects in which sentences of all kinds can be alike. Those that are vague (the
// topic, the purpose) are left out: under them an encoder finds everything alike.

export const CONDITIONS: readonly string[] = [
  // people and animals
  "the number of people",
  "the age of the people",
  "the gender of the people",
  "the clothes",
  "the kind of animal",
  // what happens
  "the activity",
  "the sport or game",
  "the means of transport",
  "the speed",
  "the danger",
  // where and when
  "the place",
  "the country or city",
  "the weather",
  "the season",
  "the time of day",
  "the duration",
  // things
  "the object",
  "the colour",
  "the size",
  "the food or drink",
  "the smell",
  "the sound",
  "the price",
  "the quality",
  // how it is said
  "the mood",
  "the emotion",
  "the opinion",
  "the politeness",
  "the urgency",
  // work and the world
  "the problem",
  "the service",
  "the cleanliness",
];
