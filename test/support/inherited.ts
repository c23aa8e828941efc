/** Compiled files are kept in one place for all processes; the others let `npm run coverage` measure programs, too. */
const NAMES = ["PATH", "NODE_COMPILE_CACHE", "NODE_V8_COVERAGE", "NODE_DISABLE_COMPILE_CACHE"] as const;

/** What programs that tests start inherit of the tests' environment, and nothing else. */
export const INHERITED: Readonly<Record<string, string>> = Object.fromEntries(
  NAMES.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);
