/** A function that calls `work` once for each object, and keeps the result as long as the object. A failure is not kept. */
export function oncePer<K extends object, V extends {}>(work: (object: K) => V): (object: K) => V {
  const known = new WeakMap<K, V>();
  return (object) => {
    const found = known.get(object);
    if (found !== undefined) return found;
    const made = work(object);
    known.set(object, made);
    return made;
  };
}

/** A function that makes a value on its first call and then returns the same one. A failure is not kept, nor is a rejection. */
export function once<T extends {}>(make: () => T): () => T {
  let made: T | undefined;
  const forget = (): void => {
    made = undefined;
  };
  return () => {
    if (made !== undefined) return made;
    made = make();
    if (made instanceof Promise) made.catch(forget);
    return made;
  };
}
