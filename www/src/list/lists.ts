// Lists to start from: a text a line, in files of their own, each with conditions that sort it in different ways.

const files = import.meta.glob<string>("./*.txt", { query: "?raw", import: "default" });

export const listNames = ["captions", "tickets", "reviews"] as const;
export type ListName = (typeof listNames)[number];

/** The first condition of a list is the one it opens with. */
export const listConditions: Record<ListName, readonly [string, ...string[]]> = {
  captions: ["the number of people", "the place", "the activity", "the animal", "the time of day", "the weather"],
  tickets: ["the mood of the customer", "the problem", "the urgency", "the product feature"],
  reviews: ["the price", "the opinion", "the food", "the service", "the atmosphere"],
};

/** For a list of one's own. */
export const generalConditions = ["the topic", "the mood", "the place", "the activity", "the number of people", "the price", "the problem"];

export const isListName = (name: unknown): name is ListName => (listNames as readonly unknown[]).includes(name);

/** The lines of a list, from the server. */
export async function readList(name: ListName): Promise<string> {
  const read = files[`./${name}.txt`];
  return read ? (await read()).trim() : "";
}
