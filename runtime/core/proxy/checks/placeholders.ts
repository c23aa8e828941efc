import { isObject } from "../../json.ts";
import type { Path } from "../../schema/nodes.ts";
import type { Schemas } from "../../schema/subschemas.ts";
import { didYouMean } from "../../set/did-you-mean.ts";
import type { Draft } from "../../set/draft.ts";
import { type Fault, faultAt, faultAtKey } from "../../set/faults.ts";
import type { ProxyManifest } from "../../set/manifest.ts";
import { type Fields, readFields } from "../fields.ts";
import { headPlaceholders, toRequestPlan } from "../plan.ts";
import { explainPointer } from "../pointer.ts";
import { isSpread } from "../spread.ts";
import { fieldOf, type Placeholder, parseTemplate, placeholdersOf, soleOf } from "../template.ts";

/** A placeholder with its place. */
interface Use {
  readonly placeholder: Placeholder;
  readonly path: Path;
  readonly room: "path" | "query" | "spread" | "header" | "body" | "address";
  /** Whether the placeholder is the whole text. */
  readonly isSole: boolean;
  /** Whether it is written like a shell variable: `${name}`. */
  readonly hasDollar: boolean;
}

/** Checks that each placeholder names a field that fits its place, and that each input field is used. */
export function checkPlaceholders(draft: Draft, proxy: ProxyManifest, schemas: Schemas): Fault[] {
  const input = readFields(draft, "input", schemas);
  const { request } = proxy;
  if (!input || request === undefined) return [];
  const uses = usesOf(proxy);
  return [
    ...uses.flatMap((use) => checkUse(draft, use, { input, hasOrder: use.path[1] === "poll" })),
    ...checkFiles(draft, proxy, input),
    ...checkUnused(draft, proxy, { input, uses }),
    ...checkKept(draft, proxy, { input, uses }),
  ];
}

function usesOf({ request = "", query = {}, headers = {}, body, encoding, poll }: ProxyManifest): Use[] {
  const ofLine = (line: string, path: Path): Use[] => {
    const plan = toRequestPlan(line);
    return headPlaceholders(plan).map((placeholder) => {
      const room = plan.target.address ? "address" : "path";
      return { placeholder, path, room, isSole: false, hasDollar: isAfterDollar(line, placeholder) };
    });
  };
  const ofText = (text: string, path: Path, room: Use["room"]): Use[] => {
    const template = parseTemplate(text);
    const isSole = soleOf(template) !== undefined;
    return placeholdersOf(template).map((placeholder) => {
      return { placeholder, path, room, isSole, hasDollar: isAfterDollar(text, placeholder) };
    });
  };
  const inBody = (part: unknown, path: Path): Use[] => {
    if (typeof part === "string") {
      const isForm = encoding === "form" || encoding === "multipart";
      const isField = isForm && path.length === 3 && isSpread(String(path[2]));
      return part === "input" && path.length === 2 ? [] : ofText(part, path, isField ? "spread" : "body");
    }
    if (Array.isArray(part)) return part.flatMap((item, at) => inBody(item, [...path, at]));
    return isObject(part) ? Object.entries(part).flatMap(([key, value]) => inBody(value, [...path, key])) : [];
  };
  return [
    ...ofLine(request, ["proxy", "request"]),
    ...Object.entries(query).flatMap(([name, text]) =>
      ofText(String(text), ["proxy", "query", name], isSpread(name) ? "spread" : "query"),
    ),
    ...Object.entries(headers).flatMap(([name, text]) => ofText(text, ["proxy", "headers", name], "header")),
    ...inBody(body, ["proxy", "body"]),
    ...(["request", "result"] as const).flatMap((key) => ofLine(poll?.[key] ?? "", ["proxy", "poll", key])),
  ];
}

const isAfterDollar = (line: string, { text }: Placeholder): boolean => line.includes(`\${${text}}`);

function checkUse(draft: Draft, use: Use, { input, hasOrder }: { input: Fields; hasOrder: boolean }): Fault[] {
  const { placeholder, path, room, hasDollar } = use;
  const { name, text, source, slashes } = placeholder;
  const fail = (complaint: string): Fault[] => [faultAt(draft, path, "bad-placeholder", `{${text}} ${complaint}`)];
  if (source === "order") {
    if (!hasOrder) return fail("is a part of an order's answer: it may stand in poll only");
    const fault = explainPointer(name);
    return fault ? [faultAt(draft, path, "bad-pointer", fault)] : [];
  }
  if (hasDollar && room !== "body")
    return fail("has a $ before it, which would be sent: leave it out; variables of the environment belong in a key");
  const field = input.find(name);
  if (!field) return [faultAt(draft, path, "unknown-placeholder", lacks(input, name))];
  if (slashes && room !== "path") return fail("may have slashes in a path only");
  const complaint = explainForm(use, field.types);
  if (complaint) return fail(complaint);
  if (room === "body") return [];
  const isNeeded = room === "path" || room === "address";
  return isNeeded && !field.isCertain ? fail("may be absent: require it in the input, or give it a default") : [];
}

const lacks = ({ names }: Fields, name: string): string => `the input has no field "${name}"${didYouMean(name, names)}`;

/** What is wrong with the form of a placeholder in its place, or nothing. */
function explainForm({ placeholder, room, isSole, path }: Use, types: readonly string[]): string | undefined {
  const { isExploded } = placeholder;
  const isOnly = (...kinds: string[]): boolean =>
    types.length > 0 && types.every((type) => kinds.includes(type) || type === "null");
  if (room === "spread") {
    const fits = types.includes("object") || (types.includes("array") && path.at(-1) !== "*");
    return !isSole || isExploded || (types.length > 0 && !fits)
      ? "is sent field by field: it must stand alone, without *, and be a mapping"
      : undefined;
  }
  if (room === "body") return isExploded ? "repeats a parameter: it must stand alone, in query" : undefined;
  if (isOnly("object"))
    return isExploded && room === "query"
      ? 'is a mapping: write "*" or "name[*]" as the parameter, and no *'
      : undefined;
  if (!isExploded) return undefined;
  if (room !== "query" || !isSole) return "repeats a parameter: it must stand alone, in query";
  return types.length > 0 && !types.includes("array") ? "is no list: leave * out" : undefined;
}

interface Used {
  readonly input: Fields;
  readonly uses: readonly Use[];
}

/** When the whole input is the form, its files must be fields of the input. */
function checkFiles(draft: Draft, { files = [], body }: ProxyManifest, input: Fields): Fault[] {
  if (body !== "input") return [];
  return files.flatMap((name, at) => {
    const place = ["proxy", "files", at];
    const field = input.find(name);
    if (!field) return [faultAt(draft, place, "unknown-placeholder", lacks(input, name))];
    const isFile = field.types.length === 0 || field.types.some((type) => /^(?:string|object|array)$/.test(type));
    return isFile ? [] : [faultAt(draft, place, "bad-placeholder", "a file must be base64, or { data, name, media }")];
  });
}

const isTaken = (field: string, uses: readonly Use[]): boolean =>
  uses.some(
    ({ placeholder: { name, source } }) => source === "input" && (name === field || name.startsWith(`${field}.`)),
  );

function checkUnused(draft: Draft, { body }: ProxyManifest, { input, uses }: Used): Fault[] {
  if (body === "input") return [];
  return input.names.flatMap((name) => {
    if (isTaken(name, uses)) return [];
    const complaint = `nothing takes the field "${name}": name it as {${name}}, or say "body: input"`;
    const isInline = isObject(draft.data.input);
    return isInline
      ? [faultAtKey(draft, ["input", "properties", name], "unused-input", complaint)]
      : [faultAt(draft, ["input"], "unused-input", complaint)];
  });
}

/** A cached answer must depend only on the input; otherwise another caller would get a wrong answer. */
function checkKept(draft: Draft, { cache, body }: ProxyManifest, { input, uses }: Used): Fault[] {
  const { by } = cache ?? {};
  if (!by) return [];
  const unknown = by.flatMap((name, at) =>
    input.names.includes(name) || input.areOpen
      ? []
      : [faultAt(draft, ["proxy", "cache", "by", at], "bad-cache", lacks(input, name))],
  );
  if (body === "input" && input.areOpen) {
    const complaint = "the input takes fields that it does not name, and the request depends on them: leave by out";
    return [...unknown, faultAtKey(draft, ["proxy", "cache", "by"], "bad-cache", complaint)];
  }
  const placed = uses.filter(({ placeholder }) => placeholder.source === "input").map(({ placeholder }) => placeholder);
  const named = placed.map(({ name }) => (input.names.includes(name) ? name : fieldOf(name)));
  const needed = new Set(body === "input" ? [...input.names, ...named] : named);
  const left = [...needed].filter((name) => !by.includes(name));
  if (left.length === 0) return unknown;
  const complaint = `the request depends on ${left.join(", ")}, too: another caller would get the wrong answer`;
  return [...unknown, faultAtKey(draft, ["proxy", "cache", "by"], "bad-cache", complaint)];
}
