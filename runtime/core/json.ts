import { once } from "./once.ts";

/** A JSON object whose fields are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object or a list. */
export const isCollection = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Whether a value is a JSON object: neither null nor a list. */
export const isObject = (value: unknown): value is JsonObject => isCollection(value) && !Array.isArray(value);

/** A name as a step of a JSON Pointer (RFC 6901, section 3). */
export const escapeStep = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** A step of a JSON Pointer without its escapes (RFC 6901, section 4). */
export const unescapeStep = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");

/** The value of a JSON text; undefined when the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The value of a JSON text. Integers that JavaScript would round become strings of their digits, which no schema accepts
 * as numbers.
 * @throws SyntaxError
 */
export const parseDigits = (text: string): unknown =>
  MAY_ROUND.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);

/** Matches where such an integer may begin. JSON without a match, as most is, is parsed ten times as fast. */
const MAY_ROUND = /(?:^|[[:,\s])-?\d{16}/;
/** Integers of this length always become strings: almost none of them is exact in JavaScript. */
const LONG = 25;

function keepDigits(_name: string, value: unknown, { source = "" }: { readonly source?: string } = {}): unknown {
  if (typeof value !== "number" || source.length < 16 || /[.eE]/.test(source)) return value;
  return source.length < LONG && BigInt(source) === BigInt(value) ? value : source;
}

/**
 * The place of the first integer of a value that JavaScript has rounded; undefined where there is none.
 * @param json what the value was read from; asked for only where there is such a large integer
 * @param isRead whether a member of the value counts
 */
export function findRounded(
  value: unknown,
  json: () => string,
  isRead: (name: string) => boolean = () => true,
): readonly (string | number)[] | undefined {
  const rounded = once(() => roundedIn(json()));
  const isRounded = (one: unknown): boolean =>
    Number.isInteger(one) && !Number.isSafeInteger(one) && rounded().has(one as number);
  const find = (one: unknown, counts: (name: string) => boolean): (string | number)[] | undefined => {
    if (!isCollection(one)) return undefined;
    for (const [name, member] of Object.entries(one)) {
      const inner = !counts(name) ? undefined : isRounded(member) ? [] : find(member, () => true);
      if (inner) return [Array.isArray(one) ? Number(name) : name, ...inner];
    }
    return undefined;
  };
  return find(value, isRead);
}

/** The rounded values of the integers in a JSON text that JavaScript rounds. */
function roundedIn(json: string): ReadonlySet<number> {
  const written = (json.match(/-?\d{16,}/g) ?? []).map((digits) => [digits, Number(digits)] as const);
  return new Set(
    written.flatMap(([digits, read]) => (Number.isFinite(read) && BigInt(digits) !== BigInt(read) ? read : [])),
  );
}

/** Whether no integer in a value may have been rounded when it was read. */
export function hasExactIntegers(value: unknown): boolean {
  if (isCollection(value)) return Object.values(value).every(hasExactIntegers);
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

const DEEPEST = 256;

/** Whether data is nested more than 256 levels deep, or contains itself: it cannot be walked safely then. */
export function isDeep(data: unknown): boolean {
  const open: (readonly [value: unknown, depth: number])[] = [[data, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    if (depth > DEEPEST) return true;
    if (isCollection(value)) for (const part of Object.values(value)) open.push([part, depth + 1]);
  }
  return false;
}
