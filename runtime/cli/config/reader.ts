import type { ValueFormat } from "./values.ts";

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Reads variables one by one and collects their faults; no fault shows a secret. */
export interface Reader {
  readonly faults: readonly string[];
  fault(line: string): void;
  /** The trimmed text; empty text counts as unset. */
  text(name: string): string | undefined;
  /** Undefined when the variable is unset or malformed. NAME_FILE beside an unset NAME is a fault: it would be ignored. */
  value<T>(name: string, shape: ValueFormat<T>): T | undefined;
  /** Like `value`, but the value may also be in the file that NAME_FILE names, and no fault shows it. */
  secret<T>(name: string, shape: ValueFormat<T>): T | undefined;
  isSet(name: string): boolean;
}

/**
 * A value as faults show it: shortened, without a URL's password, and without anything as long as a key. Further lines may
 * be other variables, behind a quote that is not closed.
 */
function shown(text: string): string {
  const safe = text
    .replace(/[\r\n][\s\S]*/, "\n…")
    .replace(/\/\/[^/@]*@/, "//…@")
    .replace(/[\da-zA-Z]{64,}/g, "…");
  return JSON.stringify(safe.length > 80 ? `${safe.slice(0, 80)}…` : safe);
}

/** @param readFile reads the file that a `…_FILE` variable names; throws when it cannot be read. */
export function createReader(env: Env, readFile: (path: string) => string): Reader {
  const faults: string[] = [];
  /** A variable that several rails name is read for each of them. */
  const fault = (line: string): void => void (faults.includes(line) || faults.push(line));
  const text = (name: string): string | undefined => env[name]?.trim() || undefined;

  function value<T>(name: string, shape: ValueFormat<T>): T | undefined {
    const given = text(name);
    if (given === undefined) {
      if (text(`${name}_FILE`)) fault(`${name}_FILE is set, but ${name} is not read from a file: set ${name} itself`);
      return undefined;
    }
    return parse(given, shape, `${name} ${shape.hidden ? "(not shown)" : `is ${shown(given)}, but`}`);
  }

  function secret<T>(name: string, shape: ValueFormat<T>): T | undefined {
    const file = text(`${name}_FILE`);
    if (file === undefined) return value(name, { ...shape, hidden: true });
    if (text(name)) fault(`${name} and ${name}_FILE are both set: keep one of them`);
    const given = content(`${name}_FILE`, file);
    return given ? parse(given, shape, `${name}_FILE names ${shown(file)}, whose content (not shown)`) : undefined;
  }

  function parse<T>(given: string, shape: ValueFormat<T>, subject: string): T | undefined {
    try {
      const parsed = shape.parse(given);
      const lines = /[\r\n]/.test(given) ? "; it has several lines, as behind a quote that is not closed" : "";
      if (parsed === undefined) fault(`${subject} must be ${shape.right}${lines}`);
      return parsed;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      fault(`${subject} must be ${shape.right}: ${error.message}`);
      return undefined;
    }
  }

  function content(name: string, file: string): string | undefined {
    try {
      const given = readFile(file).trim();
      if (given === "") fault(`${name} names ${shown(file)}, which is empty`);
      return given;
    } catch (error) {
      fault(`${name} names ${shown(file)}, which cannot be read (${(error as NodeJS.ErrnoException).code})`);
      return undefined;
    }
  }

  const isSet = (name: string): boolean => (text(name) ?? text(`${name}_FILE`)) !== undefined;
  return { faults, fault, text, value, secret, isSet };
}
