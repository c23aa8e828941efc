/** ABI types as signatures spell them. `head` is what a value takes in its place: its own bytes, or 32 for an offset. */
export type AbiType = WordType | BlobType | ListType | TupleType;

interface Shape {
  /** As it stands in the signature: `(address,uint256)[]`. */
  readonly text: string;
  readonly head: number;
  /** Whether its place holds an offset, and the value comes later. */
  readonly isDynamic: boolean;
}

/** One word of 32 bytes, of which `size` bytes mean something: the last ones, or the first ones of `bytesN` and `function`. */
export interface WordType extends Shape {
  readonly kind: "uint" | "int" | "address" | "bool" | "bytesN";
  readonly size: number;
}

/** `bytes` and `string`. */
export interface BlobType extends Shape {
  readonly kind: "bytes" | "string";
}

/** `T[]`, or `T[n]` with its length. */
export interface ListType extends Shape {
  readonly kind: "list";
  readonly item: AbiType;
  readonly length: number | undefined;
}

/** A struct: its members in order. */
export interface TupleType extends Shape {
  readonly kind: "tuple";
  readonly items: readonly AbiType[];
}

/** How deeply tuples and arrays may lie in each other. */
const MOST_NESTED = 32;
const TOKEN = /[(),]|\[\d*\]|[a-z]+\d*/g;
const WORD = /^(uint|int|bytes|address|bool|function)([1-9]\d{0,2})?$/;
const LENGTH = /^\[([1-9]\d{0,8})?\]$/;

/**
 * Reads a list of types in its canonical spelling, `(address,(bytes,uint256)[2])`. Undefined for all else, also for types
 * whose values have no bytes (an empty tuple, an array of none): of those, a few bytes could claim to hold billions.
 */
export function readTypes(text: string): readonly AbiType[] | undefined {
  if (text === "()") return [];
  const tokens = text.match(TOKEN) ?? [];
  if (tokens.join("") !== text) return undefined;
  let at = 0;
  const tuple = readTuple(0);
  return at === tokens.length ? tuple?.items : undefined;

  function readTuple(depth: number): TupleType | undefined {
    const items: AbiType[] = [];
    do {
      if (items.length > 0 || tokens[at] === "(") at++;
      const item = readType(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
    } while (tokens[at] === ",");
    return tokens[at++] === ")" ? toTuple(items) : undefined;
  }

  function readType(depth: number): AbiType | undefined {
    if (depth > MOST_NESTED) return undefined;
    let type: AbiType | undefined = tokens[at] === "(" ? readTuple(depth) : toPlain(tokens[at++] ?? "");
    for (let nested = depth; type && tokens[at]?.startsWith("["); nested++) {
      const brackets = LENGTH.exec(tokens[at++] as string);
      if (!brackets || nested > MOST_NESTED) return undefined;
      type = toList(type, brackets[1] === undefined ? undefined : Number(brackets[1]));
    }
    return type;
  }
}

function toPlain(text: string): WordType | BlobType | undefined {
  if (text === "bytes" || text === "string") return { kind: text, text, head: 32, isDynamic: true };
  const [, name, digits] = WORD.exec(text) ?? [];
  const word = (kind: WordType["kind"], size: number): WordType => ({ kind, size, text, head: 32, isDynamic: false });
  const number = Number(digits);
  if (name === "address" || name === "bool" || name === "function") {
    if (digits !== undefined) return undefined;
    return name === "function" ? word("bytesN", 24) : word(name, name === "bool" ? 1 : 20);
  }
  if (name === "bytes") return number <= 32 ? word("bytesN", number) : undefined;
  if (name === "uint" || name === "int") return number <= 256 && number % 8 === 0 ? word(name, number / 8) : undefined;
  return undefined;
}

const toTuple = (items: readonly AbiType[]): TupleType => ({
  kind: "tuple",
  items,
  text: `(${items.map(({ text }) => text).join(",")})`,
  ...toPlace(
    items.some(({ isDynamic }) => isDynamic),
    items.reduce((sum, { head }) => sum + head, 0),
  ),
});

const toList = (item: AbiType, length: number | undefined): ListType => ({
  kind: "list",
  item,
  length,
  text: `${item.text}[${length ?? ""}]`,
  ...toPlace(length === undefined || item.isDynamic, item.head * (length ?? 0)),
});

const toPlace = (isDynamic: boolean, size: number): Pick<Shape, "head" | "isDynamic"> => ({
  isDynamic,
  head: isDynamic ? 32 : size,
});
