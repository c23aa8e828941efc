import type { Shape } from "./values.ts";

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Reads variables one by one and collects what is wrong with them; no fault shows a secret. */
export interface Reader {
  readonly faults: readonly string[];
  fault(line: string): void;
  /** The trimmed text; an empty one counts as unset. */
  text(name: string): string | undefined;
  /** Undefined when unset, and when faulty. */
  value<T>(name: string, shape: Shape<T>): T | undefined;
  /** The same for a value that may also stand in the file that NAME_FILE names, and that is never shown. */
  secret<T>(name: string, shape: Shape<T>): T | undefined;
  isSet(name: string): boolean;
}

/** What a fault may show of a value: not too much, no password of an address, nothing as long as a key. */
function shown(text: string): string {
  const safe = text.replace(/\/\/[^/@]*@/, "//…@").replace(/[\da-zA-Z]{64,}/g, "…");
  return JSON.stringify(safe.length > 80 ? `${safe.slice(0, 80)}…` : safe);
}

export function createReader(env: Env, readFile: (path: string) => string): Reader {
  const faults: string[] = [];
  const fault = (line: string): void => void faults.push(line);
  const text = (name: string): string | undefined => env[name]?.trim() || undefined;

  function value<T>(name: string, shape: Shape<T>): T | undefined {
    const given = text(name);
    if (given === undefined) return undefined;
    return parse(given, shape, `${name} ${shape.hidden ? "(not shown)" : `is ${shown(given)}, but`}`);
  }

  function secret<T>(name: string, shape: Shape<T>): T | undefined {
    const file = text(`${name}_FILE`);
    if (file === undefined) return value(name, { ...shape, hidden: true });
    if (text(name)) fault(`${name} and ${name}_FILE are both set: keep one of them`);
    const given = content(`${name}_FILE`, file);
    return given ? parse(given, shape, `${name}_FILE names ${shown(file)}, whose content (not shown)`) : undefined;
  }

  function parse<T>(given: string, shape: Shape<T>, subject: string): T | undefined {
    try {
      const parsed = shape.parse(given);
      if (parsed === undefined) fault(`${subject} must be ${shape.right}`);
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
