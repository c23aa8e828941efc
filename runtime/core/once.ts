/** A function that makes a value when it is first asked for it, and keeps it. A throw is not kept. */
export function once<T extends {}>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
