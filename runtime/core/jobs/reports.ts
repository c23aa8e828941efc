import { randomBytes } from "node:crypto";
import { Problem } from "../../api/problem.ts";
import type { ReportFile, Reports } from "../../api/reports.ts";
import { sha256 } from "../digest.ts";
import { JOB_KEEP_MS } from "../refunds/records.ts";
import type { Store } from "../store.ts";

/** A published file. Its body is read on demand. */
export interface PublishedReport {
  readonly type: string;
  /** The length in UTF-8 bytes. */
  readonly bytes: number;
  /** The SHA-256 of the body, 64 hex characters. */
  readonly sha256: string;
  /** The body; undefined when it has expired. */
  read(): Promise<string | undefined>;
}

/** Published files, in the store that all processes share. */
export interface ReportShelf extends Pick<Reports, "publish"> {
  /** @param folder the unguessable part of the URL */
  find(folder: string, name: string): Promise<PublishedReport | undefined>;
}

export interface ReportShelfOptions {
  readonly store: Store;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
}

/** The stored data of a file without its body. */
interface Entry extends Omit<PublishedReport, "read"> {
  readonly pieces: number;
}

const MOST_BYTES = 32 * 1024 * 1024;
/** The length of a stored part in characters: stores handle one value at a time, and a large one would block others. */
const PIECE = 256 * 1024;
const FOLDER = /^[0-9a-f]{32}$/;
const NAME = /^[a-z0-9][a-z0-9._-]{0,79}$/;
const TYPE = /^[a-z]{1,20}\/[a-z0-9.+-]{1,60}(?:; charset=utf-8)?$/;

/** Stores files in parts. The entry is written last, so that a file that is found is complete. */
export function createReportShelf({ store, baseUrl }: ReportShelfOptions): ReportShelf {
  return {
    async publish(file) {
      const entry = toEntry(file);
      const folder = randomBytes(16).toString("hex");
      for (let at = 0; at < entry.pieces; at += 1)
        await store.set(pieceKey(folder, at), file.body.slice(at * PIECE, (at + 1) * PIECE), JOB_KEEP_MS);
      await store.set(entryKey(folder, file.name), entry, JOB_KEEP_MS);
      return `${baseUrl}/reports/${folder}/${file.name}`;
    },
    async find(folder, name) {
      if (!FOLDER.test(folder) || !NAME.test(name)) return undefined;
      const entry = await store.get<Entry>(entryKey(folder, name));
      if (!entry) return undefined;
      const { pieces, ...known } = entry;
      return { ...known, read: () => read(folder, pieces) };
    },
  };

  async function read(folder: string, pieces: number): Promise<string | undefined> {
    let body = "";
    for (let at = 0; at < pieces; at += 1) {
      const piece = await store.get<string>(pieceKey(folder, at));
      if (piece === undefined) return undefined;
      body += piece;
      await new Promise((done) => setImmediate(done)); // Lets other work run: SQLite answers without waiting.
    }
    return body;
  }
}

/** @throws Problem `payload-too-large`; TypeError for an invalid name or type. */
function toEntry({ name, type, body }: ReportFile): Entry {
  if (!NAME.test(name)) throw new TypeError(`${JSON.stringify(name)} cannot be the name of a report`);
  if (!TYPE.test(type)) throw new TypeError(`${JSON.stringify(type)} cannot be the type of a report`);
  const bytes = Buffer.byteLength(body);
  if (bytes > MOST_BYTES) {
    const detail = `The report ${name} would have ${bytes} bytes, more than the ${MOST_BYTES} that are published`;
    throw new Problem("payload-too-large", detail);
  }
  return { type, bytes, sha256: sha256(body), pieces: Math.ceil(body.length / PIECE) };
}

const entryKey = (folder: string, name: string): string => `report:${folder}:${name}`;
const pieceKey = (folder: string, at: number): string => `report-piece:${folder}:${at}`;
