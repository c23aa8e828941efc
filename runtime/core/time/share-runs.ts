/** Work that covers all that came before it, done once for all who wait: calls during a run share the next one. */
export function shareRuns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function begin(): Promise<void> {
    next = undefined;
    const one = work().finally(() => {
      if (running === one) running = undefined;
    });
    running = one;
    return one;
  }

  return () => {
    if (!running) return begin();
    next ??= running.then(begin, begin);
    return next;
  };
}
