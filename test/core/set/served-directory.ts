import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createFolder } from "../../support/folder.ts";

/** The files of a served directory, by path. */
export type Files = Readonly<Record<string, string>>;

/** The repository. */
export const ROOT = join(import.meta.dirname, "../../..");

/** What makes a manifest a job. */
export const JOB = `job:
  status_route: GET /v1/job/{job_id}
  eta_seconds: 10
  deadline_seconds: 60
  attempts: 1
  concurrency: 1
  queue_limit: 10
  refund: false`;

/** A sound set of one small service, to be broken by tests. */
export const TOSS: Files = {
  "manifests/_site.yaml": await readFile(join(ROOT, "test/fixtures/golden/set/manifests/_site.yaml"), "utf8"),
  "manifests/toss.yaml": `id: toss
title: Coin toss
description: Tosses fair coins.
route: POST /v1/toss
price: "0.01"
handler: toss.toss
input: TossRequest
output: TossResponse
tags: [random, games]
examples:
  - input: { coins: 2 }
    output: { sides: [heads, tails] }
`,
  "schemas/TossRequest.json": `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "coins": { "type": "integer", "minimum": 1, "maximum": 100, "default": 1 },
    "label": { "type": ["string", "null"], "maxLength": 20, "pattern": "^[a-z]+$" }
  }
}
`,
  "schemas/TossResponse.json": `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": { "sides": { "type": "array", "items": { "$ref": "Side.json" } } },
  "required": ["sides"]
}
`,
  "schemas/Side.json": `{ "type": "string", "enum": ["heads", "tails"] }
`,
  "plugins/toss.ts": `import { randomInt } from "node:crypto";
import { definePlugin } from "#plugin";

export default definePlugin("toss", () => ({
  toss({ coins }) {
    return { sides: Array.from({ length: coins }, () => (randomInt(2) === 0 ? "heads" : "tails")) };
  },
}));
`,
};

/** A sound set of one proxied service, to be broken by tests. */
export const FX: Files = {
  "manifests/_site.yaml": `${TOSS["manifests/_site.yaml"]}upstreams:
  - id: bank
    title: The bank
    url: https://bank.example.com/api
    key: { variable: BANK_KEY, header: authorization, scheme: Bearer }
  - { id: pool, title: The pool, url: "https://pool.example.com", key: { variable: POOL_KEY, query: token } }
`,
  "manifests/fx.yaml": `id: fx
title: Exchange rate
description: The reference rate of two currencies.
route: POST /v1/fx
price: "0.01"
proxy:
  upstream: bank
  request: POST /v1/{date}
  query: { base: "{base}", days: "{days*}" }
  headers: { accept-language: "{language}" }
  body: { note: "{note}", place: "{place}" }
  answer: { pick: /data, rename: { usd: dollars } }
  charge_on: [200]
input:
  type: object
  properties:
    date: { type: string }
    base: { type: string, default: EUR }
    days: { type: array, items: { type: integer } }
    language: { type: string }
    note: { type: string }
    place: { type: object, properties: { city: { type: string } } }
  required: [date]
output:
  type: object
  properties:
    dollars: { type: number }
    age_seconds: { type: integer }
tags: [money]
examples:
  - input: { date: today }
    output: { dollars: 1.1 }
`,
};

/** The code blocks of a README that are files, by the path after the fence's language: ```yaml manifests/toss.yaml */
export async function readFilesOf(readme: string): Promise<Files> {
  const text = await readFile(join(ROOT, readme), "utf8");
  return Object.fromEntries([...text.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)].map(([, file, block]) => [file, block]));
}

/** Writes a directory outside the repository, like an operator's. It is removed when this process ends. */
export async function makeDirectory(files: Files): Promise<string> {
  const dir = createFolder();
  await writeFiles(dir, files);
  return dir;
}

export async function writeFiles(dir: string, files: Files): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, file)), { recursive: true });
    await writeFile(join(dir, file), text);
  }
}

/** The files with one text in one of them replaced. @throws Error when the file does not have the text. */
export function edit(files: Files, file: string, from: string, to: string): Files {
  const text = files[file];
  if (!text?.includes(from)) throw new Error(`${file} has no ${JSON.stringify(from)}`);
  return { ...files, [file]: text.replace(from, () => to) };
}
