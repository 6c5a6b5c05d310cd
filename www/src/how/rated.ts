// Pairs of captions that people rated under a condition: rows of C-STS's validation data as LivNLP annotated them anew (CC BY 4.0). No
// model that ships was trained on them.

export interface Rated {
  readonly pair: readonly [string, string];
  readonly condition: string;
  /** What people said, from 1 to 5. */
  readonly people: number;
}

export const rated: readonly Rated[] = [
  { pair: ["The small child is playing outside in the fallen leaves.", "A little boy sits on a rock and plays with leaves."], condition: "location of child", people: 3 },
  { pair: ["A surfer in a black wetsuit is riding a foamy wave.", "A man in a blue canoe battling through rough waves"], condition: "waves", people: 4 },
  { pair: ["Two dogs are running side by side through long grass.", "A black and white dog is chasing a ball on an open plane."], condition: "number of animals", people: 1 },
  { pair: ["A skateboarder high in the air above an indoor ramp.", "A skateboarder is balancing on a wooden box in a dark room."], condition: "hobby", people: 5 },
  { pair: ["Man in safety gear riding a bike on a rocky trail.", "A person on a bicycle is riding on a dirt road in the woods."], condition: "type of landscape", people: 2 },
  { pair: ["A dog walking into a lake with reeds in the background", "A white dog that is muddy walks across the green grass."], condition: "wetness of feet", people: 3 },
  { pair: ["A young boy jumps into the air using a trampoline.", "A boy leaping in the air towards a soccer ball."], condition: "gender of person", people: 5 },
  { pair: ["A man with a blue harness climbing a climbing wall.", "A young girl wearing a safety harness climbs a rock wall."], condition: "gender of person", people: 1 },
];
