import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import schema from "../../../schemas/recording.json" with { type: "json" };
import { Problem } from "../../api/problem.ts";
import { once } from "../../core/once.ts";
import type { HttpMethod } from "../../core/proxy/plan.ts";
import { toField, toIssues } from "../../core/schema/issues.ts";
import { addKeywords, OPTIONS } from "../../core/schema/keywords.ts";
import { createSchemaNodes } from "../../core/schema/nodes.ts";

/** A file of recorded exchanges with an upstream (`schemas/recording.json`). */
export interface Recording {
  /**
   * Relative to the served directory: `plugins/<plugin>/recordings/<upstream>/<name>.json`, or `recordings/…` for
   * upstreams without a plugin.
   */
  readonly file: string;
  /** The upstream's id. */
  readonly upstream: string;
  readonly source: string;
  readonly exchanges: readonly RecordedExchange[];
}

/** One request and its response. */
export interface RecordedExchange {
  /** `success`, `empty`, `error`, `rate-limit`, `slow` or `malformed`, optionally with a suffix like `:contract`. */
  readonly case: string;
  readonly request: RecordedRequest;
  readonly response: RecordedResponse;
  /** The content of the response's `file`. */
  readonly content?: Buffer;
}

/** `path` includes the query and is relative to the upstream's URL. A sent body must contain `body`. */
export type RecordedRequest =
  | {
      readonly method: HttpMethod;
      readonly path: string;
      readonly body?: unknown;
      /** The media type, when the body is not JSON. */
      readonly type?: string;
      readonly rpc?: undefined;
    }
  | { readonly rpc: { readonly method: string; readonly params: readonly unknown[] } };

/** Exactly one of `json`, `text`, `file`, `result` and `rpc_error` is the body. */
export interface RecordedResponse {
  /** Default: 200. */
  readonly status?: number;
  /** Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly delay_ms?: number;
  readonly json?: unknown;
  readonly text?: string;
  /** The name of a file beside the recording. */
  readonly file?: string;
  readonly result?: unknown;
  readonly rpc_error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Whether the sandbox answers with this exchange (`success` or `empty`); the other cases are for tests. */
export const isAnswering = (exchange: RecordedExchange): boolean => /^(success|empty)\b/.test(exchange.case);

/** The recordings of a served directory, relative to it, in the order in which they are searched. */
export const listRecordings = (dir: string): readonly string[] =>
  globSync("{plugins/*/,}recordings/*/*.json", { cwd: dir }).sort();

/**
 * Reads recordings and the body files that they name.
 * @param files relative to the directory.
 * @throws Problem `bad-request` with one line per fault, for all files together.
 */
export function loadRecordings(dir: string, files: readonly string[] = listRecordings(dir)): readonly Recording[] {
  const faults: string[] = [];
  const recordings = files.map((file) => {
    const fault = (complaint: string): void => void faults.push(`${file}: ${complaint}`);
    return readRecording(dir, file, fault);
  });
  if (faults.length > 0) throw new Problem("bad-request", faults.join("\n"));
  return recordings.filter((recording) => recording !== undefined);
}

function readRecording(dir: string, file: string, fault: (complaint: string) => void): Recording | undefined {
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(join(dir, file), "utf8"));
  } catch (error) {
    fault((error as Error).message);
    return undefined;
  }
  const complaints = findComplaints(data);
  complaints.forEach(fault);
  if (complaints.length > 0) return undefined;
  const { source, exchanges } = data as Pick<Recording, "source" | "exchanges">; // The schema has checked this.
  const folder = dirname(file);
  return {
    file,
    upstream: basename(folder),
    source,
    exchanges: exchanges.map((exchange) => {
      const name = exchange.response.file;
      return name === undefined ? exchange : { ...exchange, ...readBody(join(dir, folder), name, fault) };
    }),
  };
}

/** The schema allows no name that leads outside the folder. */
function readBody(folder: string, name: string, fault: (complaint: string) => void): Pick<RecordedExchange, "content"> {
  try {
    return { content: readFileSync(join(folder, name)) };
  } catch (error) {
    fault(`its body ${name} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return {};
  }
}

const validator = once(() => {
  const ajv = new Ajv2020({ ...OPTIONS, strictRequired: false, validateSchema: false, meta: false });
  addKeywords(ajv);
  const nodes = createSchemaNodes(new Map([["Recording", schema]]));
  return { validate: ajv.compile(schema), nodes };
});

/** The faults of a file's data, like `exchanges[0].request: exactly one of …`. */
function findComplaints(data: unknown): string[] {
  const { validate, nodes } = validator();
  if (validate(data)) return [];
  const issues = toIssues(validate.errors ?? [], { value: data, from: "body", document: schema, nodes });
  return issues.map(({ loc, msg }) => `${toField(loc) || "the file"}: ${msg}`);
}
