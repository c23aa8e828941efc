/** A function that makes a value on its first call and then returns the same one. A failure is not kept. */
export function once<T extends {}>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
