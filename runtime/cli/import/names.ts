import { createHash } from "node:crypto";
import { GRAMMARS } from "../../core/set/grammar.ts";

const words = (text: string): string[] =>
  toAscii(text)
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "");

/** Shortens a name to a length. A digest at the end distinguishes names that begin alike. */
function shorten(name: string, most: number, separator: string): string {
  if (name.length <= most) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 6);
  return `${name.slice(0, most - digest.length - separator.length)}${separator}${digest}`;
}

/** `getPetById` of `petstore` is `petstore_get_pet_by_id`: at most 64 characters. */
export function toServiceId(upstream: string, name: string): string {
  const own = words(upstream).join("_").toLowerCase();
  const rest = words(name).join("_").toLowerCase() || "call";
  return shorten(rest === own || rest.startsWith(`${own}_`) ? rest : `${own}_${rest}`, 64, "_");
}

/** A note about services whose names consist of the same words, one sentence for all. */
export function toClashNotes<T extends { readonly name: string }>(
  upstream: string,
  ids: ReadonlyMap<T, string>,
  chosen: readonly T[],
): string[] {
  const clashing = chosen.flatMap((one) => {
    const id = ids.get(one);
    return id === undefined || id === toServiceId(upstream, one.name) ? [] : [`${one.name} is ${id}`];
  });
  return clashing.length === 0 ? [] : [`names clash, and are numbered: ${clashing.join(", ")}`];
}

/** The path of a service: `petstore_get_pet` of `petstore` is `/v1/petstore/get-pet`. */
export function toServicePath(upstream: string, id: string): string {
  const own = words(upstream).join("_").toLowerCase();
  const rest = id.startsWith(`${own}_`) ? id.slice(own.length + 1) : id;
  return `/v1/${toWord(upstream)}/${rest.replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "")}`;
}

/**
 * Lower-case letters, digits and single dashes, at most 32 characters; empty when the text has no letter and no digit.
 */
export const toWord = (text: string): string => words(text).join("-").toLowerCase().slice(0, 32).replace(/-$/, "");

/** `pet-item` of `petstore` is `PetstorePetItem`. */
export function toSchemaName(upstream: string, name: string): string {
  const own = toPascalCase(upstream).replace(/^\d/, "N$&");
  const rest = toPascalCase(name);
  return shorten(rest.toLowerCase().startsWith(own.toLowerCase()) ? rest : own + rest, 80, "");
}

const toPascalCase = (text: string): string =>
  words(text)
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join("");

/** A field name that templates accept: letters, digits and underscores, not beginning with a digit. */
export function toFieldName(text: string): string {
  const plain = toAscii(text)
    .replaceAll(/[^A-Za-z0-9_]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  return /^[A-Za-z]/.test(plain) ? plain : `f_${plain}`;
}

/** The name of an environment variable, none of payphone's own: `pet-store` with `KEY` is `PET_STORE_KEY`. */
export function toVariable(id: string, what: string): string {
  const name = `${id.replaceAll("-", "_").toUpperCase()}_${what}`;
  return GRAMMARS["lent-variable"]?.explain(name) === undefined ? name : `API_${name}`;
}

/**
 * Returns a function that gives a wanted name, with a number appended when it is taken. Names are compared without
 * case.
 */
export function createNames(taken: Iterable<string> = []): (wanted: string, separator?: string) => string {
  const known = new Set([...taken].map((name) => name.toLowerCase()));
  return (wanted, separator = "") => {
    let name = wanted;
    for (let count = 2; known.has(name.toLowerCase()); count++) name = `${wanted}${separator}${count}`;
    known.add(name.toLowerCase());
    return name;
  };
}

const TYPOGRAPHIC: Readonly<Record<string, string>> = {
  "\u2018": "'",
  "\u2019": "'",
  "\u201C": '"',
  "\u201D": '"',
  "\u2013": "-",
  "\u2014": "-",
  "\u2022": "-",
  "\u2026": "...",
  "\u00A0": " ",
};

/** Letters that are no letter with a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  Æ: "Ae",
  œ: "oe",
  Œ: "Oe",
  ø: "o",
  Ø: "O",
  ł: "l",
  Ł: "L",
  đ: "d",
  Đ: "D",
  ð: "d",
  Ð: "D",
  þ: "th",
  Þ: "Th",
  ı: "i",
};

const toAscii = (text: string): string =>
  toLatin(text)
    .replaceAll(/[^ -~]/g, (character) => LETTERS[character] ?? character)
    .normalize("NFKD")
    .replaceAll(/[^ -~]/g, "");

/**
 * The text in Latin-1: typographic quotes and dashes become plain ones, letters lose their marks, other characters are
 * dropped.
 */
const toLatin = (text: string): string =>
  text.replaceAll(/\p{Cc}/gu, " ").replaceAll(/[^\0-\xff]|\u00A0/gu, (character) => {
    const plain = TYPOGRAPHIC[character] ?? LETTERS[character] ?? character.normalize("NFKD");
    return plain.replaceAll(/[^\0-\xff]/g, "");
  });

/** A title: printable ASCII, at most 32 characters, cut between words. */
export function toTitle(text: string, fallback: string): string {
  const plain =
    toAscii(toPlainText(text).replaceAll(/\s+/g, " "))
      .replaceAll(/ +/g, " ")
      .trim()
      .replace(/(?<!\.)\.$/, "") || fallback;
  return cut(plain, 32, "");
}

/** A description: Latin-1 in one paragraph, at most 450 characters. */
export const toDescription = (text: string, fallback: string): string =>
  cut(toParagraph(toPlainText(text)) || toParagraph(fallback), LONGEST, " ...");

/** The note that names the services whose descriptions are cut, if there are any. @param described ids and whole texts */
export function toCutNote(described: readonly (readonly [id: string, description: string])[]): string[] {
  const ids = described.filter(([, text]) => toParagraph(toPlainText(text)).length > LONGEST).map(([id]) => id);
  return noteOf(
    ids,
    (list) => `descriptions were cut to ${LONGEST} characters, which is what directories take: ${list}`,
  );
}

/** The first three ids, and how many more there are. */
export const toIdList = (ids: readonly string[]): string =>
  `${ids.slice(0, 3).join(", ")}${ids.length > 3 ? ` and ${ids.length - 3} more` : ""}`;

/** A note about these services, if there are any. @param toNote the sentence with the list of ids */
export const noteOf = (ids: readonly string[], toNote: (list: string) => string): string[] =>
  ids.length === 0 ? [] : [toNote(toIdList(ids))];

/** The notes about single operations, each once, behind the names of those that it is about. */
export function toSharedNotes(said: readonly (readonly [name: string, note: string])[]): string[] {
  const shared = Map.groupBy(said, ([, note]) => note);
  return [...shared].map(([note, all]) => `${toIdList(all.map(([name]) => name))}: ${note}`);
}

const LONGEST = 450;

const toParagraph = (text: string): string => toLatin(text).replaceAll(/\s+/g, " ").trim();

/** The text without HTML and Markdown markup. */
const toPlainText = (text: string): string =>
  text
    .replaceAll(/<[a-zA-Z/!][^>]*>/g, " ")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/^\s*(?:#+|>|[-*+]\s)\s*/gm, " ")
    .replaceAll(/[`*]{1,3}/g, "");

/** Cuts after the last whole sentence, or else after the last whole word. */
function cut(text: string, most: number, mark: string): string {
  if (text.length <= most) return text;
  const head = text.slice(0, most);
  const sentence = head.lastIndexOf(". ");
  if (mark !== "" && sentence > most / 2) return head.slice(0, sentence + 1);
  const room = head.slice(0, most - mark.length);
  const space = room.lastIndexOf(" ");
  return `${(space > most / 3 ? room.slice(0, space) : room).trim()}${mark}`;
}
