import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { Problem } from "../../../runtime/api/problem.ts";
import { type OpenApiCommand, runOpenApiImport } from "../../../runtime/cli/import/import-openapi.ts";
import type { ImportOutcome } from "../../../runtime/cli/import/imported.ts";
import { checkDir } from "../../../runtime/cli/set/check.ts";
import { toFaultLine } from "../../../runtime/core/set/faults.ts";
import { makeDirectory, ROOT, TOSS } from "../../core/set/served-directory.ts";
import type { SiteTool } from "../../support/sources/tool-site.ts";

/** A site without services, whose refunds are made by hand. */
export const SITE = (TOSS["manifests/_site.yaml"] as string).replace(/^refunds:.*\n/m, "");

export const openShop = (files: Readonly<Record<string, string>> = {}): Promise<string> =>
  makeDirectory({ "manifests/_site.yaml": SITE, ...files });

export const fixture = (name: string): string => join(ROOT, "test/fixtures/openapi", name);

const SCHEMES = {
  login: { type: "oauth2", flows: {} },
  app: { type: "apiKey", in: "header", name: "X-App" },
  proven: { type: "http", scheme: "digest" },
};

/** A document of operations, GET unless they say another method, and what else it has. */
type DocumentParts = [operations: Readonly<Record<string, { method?: string; [key: string]: unknown }>>, more?: object];

/** Writes a document as a file of the shop. */
export async function writeDocument(dir: string, ...[operations, more]: DocumentParts): Promise<string> {
  const paths = Object.fromEntries(
    Object.entries(operations).map(([operationId, { method = "get", ...own }]) => [
      `/${operationId}`,
      { [method]: { operationId, responses: { 200: { content: { "application/json": {} } } }, ...own } },
    ]),
  );
  const servers = [{ url: "https://shelf.example.com" }];
  const document = {
    openapi: "3.0.0",
    info: { title: "Shelf" },
    servers,
    paths,
    components: { securitySchemes: SCHEMES },
    ...more,
  };
  await writeFile(join(dir, "api.json"), JSON.stringify(document));
  return join(dir, "api.json");
}

/** Imports every operation of a document, unless the command says otherwise. */
export const importAll = (
  dir: string,
  location: string,
  command: Partial<OpenApiCommand> = {},
): Promise<ImportOutcome> =>
  runOpenApiImport({ location, dir, selection: { names: [], tags: [], all: true }, isDryRun: false, ...command });

/** What an import into a new shop has done. */
type NewImport = ImportOutcome & { readonly dir: string };

/** Imports a fixture into a new shop. */
export async function importFixture(name: string, command: Partial<OpenApiCommand> = {}): Promise<NewImport> {
  const dir = await openShop();
  return { dir, ...(await importAll(dir, fixture(name), command)) };
}

/** Imports a document into a new shop. */
export async function importDocument(...document: DocumentParts): Promise<NewImport> {
  const dir = await openShop();
  return { dir, ...(await importAll(dir, await writeDocument(dir, ...document))) };
}

export async function faultsOf(dir: string): Promise<readonly string[]> {
  return (await checkDir(dir)).map(toFaultLine);
}

/** A manifest of a shop, as data. */
export const manifestOf = async (dir: string, id: string): Promise<Record<string, unknown>> =>
  parse(await readFile(join(dir, "manifests", `${id}.yaml`), "utf8"));

export const schemaOf = async (dir: string, name: string): Promise<unknown> =>
  JSON.parse(await readFile(join(dir, "schemas", `${name}.json`), "utf8"));

/** The message that an import is refused with. */
export const refusal = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => expect.fail("it was not refused"),
    (error: unknown) => (error instanceof Problem ? error.message : expect.fail(String(error))),
  );

/** The services of a shop. */
export const namesIn = async (dir: string): Promise<string[]> =>
  (await readdir(join(dir, "manifests")))
    .filter((name) => /^[^_.].*\.yaml$/.test(name))
    .map((name) => name.slice(0, -5));

/** The text of every file of a shop, by path. */
export async function textsOf(dir: string): Promise<Record<string, string>> {
  const files = await readdir(dir, { recursive: true, withFileTypes: true });
  const read = files
    .filter((file) => file.isFile())
    .map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(dir.length + 1), await readFile(path, "utf8")] as const;
    });
  return Object.fromEntries((await Promise.all(read)).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** A tool that a site offers. */
export const toTool = (name: string, schema: object = {}, more: Partial<SiteTool> = {}): SiteTool => ({
  name,
  description: "A tool.",
  inputSchema: { type: "object", ...schema } as SiteTool["inputSchema"],
  run: () => ({ content: [] }),
  ...more,
});
