/** A function that does one work at a time, in the order of its calls, and after `first`. A work that fails stops no other. */
export function createTurns(first: Promise<unknown> = Promise.resolve()): <T>(work: () => Promise<T>) => Promise<T> {
  let last = first;
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}
