/** Holds items until `work` is called, or until there are many: working on each at once takes several times as long. */
export interface Gatherer<Item> {
  add(item: Item): void;
  /** Works on the items that are held. */
  work(): void;
}

const MOST = 1000;

export function createGatherer<Item>(workOn: (item: Item) => void): Gatherer<Item> {
  let held: Item[] = [];
  const work = (): void => {
    const items = held;
    held = [];
    for (const item of items) workOn(item);
  };
  return {
    add(item) {
      if (held.push(item) >= MOST) work();
    },
    work,
  };
}
