import { escapeStep, isObject, type JsonObject } from "../../../../core/json.ts";
import { mapSubschemas, subschemas } from "../../../../core/schema/subschemas.ts";
import { Refused } from "../../imported.ts";
import { createNames, toSchemaName } from "../../names.ts";
import { type Pointers, tryDecode } from "../pointers.ts";
import { convertSchema, hasOwnRules, isObjectOnly, type SchemaTerms } from "./convert.ts";
import { fitBranches } from "./fit-branches.ts";
import type { WireSide } from "./words.ts";

/** The schemas of one document, each converted on first use. */
export interface SchemaBook {
  /**
   * Converts a schema of the document. Its references then name files of the shop. @throws Refused for a broken
   * reference.
   */
  convert(schema: unknown, side: WireSide): JsonObject | boolean;
  /**
   * The file of a schema that is a plain reference to an object, e.g. `PetstorePet`; undefined for any other schema.
   */
  fileOf(schema: unknown, side: WireSide): string | undefined;
  /** The schema in the file that a reference to an object has as input. */
  inputOf(schema: unknown): JsonObject | undefined;
  /** The files that these schemas reference directly or indirectly, by name. */
  filesOf(schemas: readonly unknown[]): ReadonlyMap<string, JsonObject>;
}

/** A named schema, as input or as output. */
interface Page {
  readonly reference: string;
  readonly side: WireSide;
  schema: JsonObject;
  /** The pages that its schema names. */
  next: readonly Page[];
  /** Why it cannot be converted. */
  refused?: Refused;
}

/** @param upstream prefix of the files' names, so that two documents never write the same file. */
export function createSchemaBook(document: JsonObject, pointers: Pointers, upstream: string): SchemaBook {
  const pages = new Map<string, Page>();
  const waiting: Page[] = [];
  const names = nameAll(document, upstream);
  const files = new Map<string, string>();
  const alike = new Map<string, boolean>();
  /** The keys of pages of which all that they reach is converted. */
  const completed = new Set<string>();

  const look: SchemaTerms["look"] = pointers.tryObject;
  const toKey = (reference: string, side: WireSide): string => `${side} ${reference}`;

  /** The page of a schema. New pages are empty until `fill` is called, since references may form long chains. */
  function open(reference: string, side: WireSide): Page {
    const known = pages.get(toKey(reference, side));
    if (known) return known;
    const page: Page = { reference, side, schema: {}, next: [] };
    pages.set(toKey(reference, side), page);
    waiting.push(page);
    return page;
  }

  /** Converts the schemas of all open pages, with everything that they reference. */
  function fill(): void {
    for (let page = waiting.shift(); page; page = waiting.shift()) {
      try {
        page.schema = convertPage(page);
        page.next = pagesOf(referencesOf(page.schema));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        page.refused = error;
      }
    }
  }

  function convertPage({ reference, side }: Page): JsonObject {
    const target = pointers.at(reference);
    pointers.follow({ $ref: reference });
    const found = convertSchema(target, termsOf(side));
    if (isObject(found)) return withRootType(found, isObjectOnly(target, look));
    return found ? {} : { not: {} };
  }

  /** References are written as `side #/…` until both sides of all schemas are known. */
  function termsOf(side: WireSide): SchemaTerms {
    const refer = (reference: string): string => {
      open(reference, "input");
      open(reference, "output");
      return toKey(reference, side);
    };
    return { side, refer, look };
  }

  const pagesOf = (keys: readonly string[]): Page[] => keys.flatMap((key) => pages.get(key) ?? []);

  /** These pages and all that they reference. */
  function reach(keys: readonly string[]): readonly Page[] {
    const found = new Set(pagesOf(keys));
    for (const { next } of found) for (const page of next) found.add(page);
    return [...found];
  }

  /** Fills the open pages. @throws Refused when one that these keys reach cannot be converted. */
  function complete(keys: readonly string[]): void {
    fill();
    const reached = reach(keys.filter((key) => !completed.has(key)));
    for (const { refused } of reached) if (refused) throw refused;
    for (const { side, reference } of reached) completed.add(toKey(reference, side));
  }

  /** The file name of a page. Both sides share a file when their schemas are equal. */
  function fileName(reference: string, side: WireSide): string {
    const key = toKey(reference, side);
    const known = files.get(key);
    if (known !== undefined) return known;
    const plain = names.of(reference);
    const isShared = side === "output" || reach([key]).every((page) => isAlike(page.reference));
    const name = isShared ? plain : names.of(`${reference} input`, `${plain}Input`);
    files.set(key, name);
    return name;
  }

  /** Whether a schema says the same for both sides, apart from what it references. */
  function isAlike(reference: string): boolean {
    const known = alike.get(reference);
    if (known !== undefined) return known;
    const [taken, given] = (["input", "output"] as const).map((side) =>
      JSON.stringify(open(reference, side).schema).replaceAll(/"(?:input|output) #/g, '"#'),
    );
    alike.set(reference, taken === given);
    return taken === given;
  }

  const toFinal = (schema: JsonObject): JsonObject => {
    const mapped = mapSubschemas(schema, toFinal);
    if (typeof mapped.$ref !== "string" || !/^(?:input|output) #/.test(mapped.$ref)) return mapped;
    const [side, reference] = [
      mapped.$ref.slice(0, mapped.$ref.indexOf(" ")),
      mapped.$ref.slice(mapped.$ref.indexOf("#")),
    ];
    return { ...mapped, $ref: `${fileName(reference, side as WireSide)}.json` };
  };

  return {
    convert(schema, side) {
      const found = convertSchema(schema, termsOf(side));
      complete(referencesOf(found));
      return isObject(found) ? toFinal(withRootType(found, isObjectOnly(schema, look))) : found;
    },
    fileOf(schema, side) {
      if (!isObject(schema) || typeof schema.$ref !== "string" || schema.nullable === true) return undefined;
      if (hasOwnRules(schema)) return undefined;
      const [taken, given] = [open(schema.$ref, "input"), open(schema.$ref, "output")];
      complete([toKey(schema.$ref, "input"), toKey(schema.$ref, "output")]);
      return (side === "input" ? taken : given).schema.type === "object" ? fileName(schema.$ref, side) : undefined;
    },
    inputOf: (schema) =>
      isObject(schema) && typeof schema.$ref === "string" ? pages.get(toKey(schema.$ref, "input"))?.schema : undefined,
    filesOf(schemas) {
      const byName = new Map([...pages.values()].map((page) => [fileName(page.reference, page.side), page]));
      const named = schemas.flatMap((schema) => (typeof schema === "string" ? [schema] : filesIn(schema)));
      const found = new Map<string, JsonObject>();
      for (let name = named.shift(); name !== undefined; name = named.shift()) {
        const page = byName.get(name);
        if (found.has(name) || !page) continue;
        const schema = toFinal(page.schema);
        found.set(name, schema);
        named.push(...filesIn(schema));
      }
      return found;
    },
  };
}

const filesIn = (schema: unknown): string[] =>
  referencesOf(schema).map((reference) => reference.replace(/\.json$/, ""));

/** Names the type at the root of an object's schema, as inputs and outputs require. */
const withRootType = (schema: JsonObject, isAlways: boolean): JsonObject =>
  isAlways && schema.type === undefined && schema.$ref === undefined
    ? fitBranches({ type: "object", ...schema })
    : schema;

const referencesOf = (schema: unknown): string[] =>
  [...subschemas(schema)].flatMap(({ schema: { $ref } }) => (typeof $ref === "string" ? [$ref] : []));

/** Names all schemas in the document's order, so that the names do not depend on the selection. */
function nameAll(document: JsonObject, upstream: string): { of(reference: string, wanted?: string): string } {
  const claim = createNames();
  const given = new Map<string, string>();
  const components = isObject(document.components) ? document.components : {};
  for (const name of Object.keys(isObject(components.schemas) ? components.schemas : {})) {
    const reference = `#/components/schemas/${escapeStep(name)}`;
    given.set(reference, claim(toSchemaName(upstream, name)));
  }
  return {
    of(reference, wanted) {
      const known = given.get(tryDecode(reference)) ?? given.get(reference);
      if (known !== undefined) return known;
      const last = reference.split("/").slice(-2).join(" ");
      const name = claim(wanted ?? toSchemaName(upstream, last));
      given.set(reference, name);
      return name;
    },
  };
}
