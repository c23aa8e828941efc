import { readFile, realpath, stat } from "node:fs/promises";
import { sep } from "node:path";
import { parseDocument } from "yaml";
import { Problem } from "../../../api/problem.ts";
import { isDeep, isObject } from "../../../core/json.ts";
import { readBounded } from "../../../drivers/http/bounded-body.ts";

const MOST_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/**
 * A file's text. @param folder that the file must be in, also when it is a link.
 * @throws Problem `bad-request` when it cannot be read.
 */
export async function readLocal(file: string, folder?: string): Promise<string> {
  try {
    const [path, { size }] = [await realpath(file), await stat(file)];
    if (size > MOST_BYTES)
      throw new Problem("bad-request", `${file} is larger than 32 MB: leave in it only the operations to be sold`);
    if (folder !== undefined && !path.startsWith((await realpath(folder)) + sep))
      throw new Problem("bad-request", `${file} is a link out of ${folder}`);
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("bad-request", `${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** The body of a URL. @throws Problem `upstream-failed`. */
export async function readRemote(url: string, redirect: "follow" | "error" = "follow"): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect });
    if (!answer.ok || !answer.body)
      throw new Problem("upstream-failed", `${url} answered with status ${answer.status}`);
    return (await readBounded(answer.body, url, MOST_BYTES)).toString("utf8");
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { cause, message } = error as Error;
    const reason = cause instanceof Error ? cause.message : message;
    throw new Problem("upstream-failed", `${url} cannot be fetched: ${reason}`, { cause: error });
  }
}

/**
 * Parses JSON or YAML. Of duplicate keys the last one counts, as in JSON.
 * @throws Problem `bad-request` for any other text, and for one whose aliases expand too far.
 */
export function parseText(text: string, location: string): unknown {
  const data = parseAny(text, location);
  if (isDeep(data)) throw new Problem("bad-request", `${location} is nested too deeply, or contains itself`);
  return HALF.test(text) ? withWholeTexts(data) : data;
}

/** A surrogate that is written as an escape; as itself, half of a character cannot stand in a file or an answer. */
const HALF = /\\u(?:0000)?d[89a-f]/i;
const SAID = ["title", "summary", "description"];

/** Data whose descriptions have no half of a character in them, as programs leave that cut texts to a length. */
export function withWholeTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withWholeTexts);
  if (!isObject(value)) return value;
  const parts = Object.entries(value).map(([key, part]) => {
    const isSaid = typeof part === "string" && SAID.includes(key);
    return [key, isSaid ? part.toWellFormed() : withWholeTexts(part)];
  });
  return Object.fromEntries(parts);
}

function parseAny(text: string, location: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const document = parseDocument(text, { version: "1.2", uniqueKeys: false, merge: true, prettyErrors: true });
    const [error] = document.errors;
    if (error) throw isNeither(location, error);
    try {
      return document.toJS({ maxAliasCount: 10_000 });
    } catch (cause) {
      throw isNeither(location, cause as Error);
    }
  }
}

const isNeither = (location: string, { message }: Error): Problem =>
  new Problem("bad-request", `${location} is neither JSON nor YAML: ${message.split("\n")[0]}`);
