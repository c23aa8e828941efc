/** Closes something after the last test of this process; what is named last is closed first. */
export function atEnd(close: () => unknown): void {
  closing.push(close);
}

const closing: (() => unknown)[] = [];

/** Closes all that tests of this process have shared. @throws the first error, when all were tried. */
export async function closeShared(): Promise<void> {
  const errors: unknown[] = [];
  for (let close = closing.pop(); close; close = closing.pop())
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
}

/** For mocha's own command, which has one run for all files (`package.json` names this module to it). */
export const mochaHooks = { afterAll: closeShared };
