export const isRoot = process.getuid?.() === 0;

/** mocha's `it` for what only root may do, such as giving files to other users. Skipped for others. */
export const itAsRoot = (title: string, test: Mocha.Func | Mocha.AsyncFunc): unknown =>
  (isRoot ? it : it.skip)(title, test);
