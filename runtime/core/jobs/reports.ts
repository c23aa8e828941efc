import { randomBytes } from "node:crypto";
import { Problem } from "../../api/problem.ts";
import type { ReportFile, Reports } from "../../api/reports.ts";
import { sha256 } from "../digest.ts";
import { JOB_KEEP_MS } from "../refunds/records.ts";
import type { Store } from "../store.ts";

/** A file that was published. Its body is read only when it is asked for. */
export interface PublishedReport {
  readonly type: string;
  /** In UTF-8. */
  readonly bytes: number;
  /** Of the body, 64 hex characters. */
  readonly sha256: string;
  /** Undefined when its time is over. */
  read(): Promise<string | undefined>;
}

/** Published files, in the store that all processes share. */
export interface ReportShelf extends Pick<Reports, "publish"> {
  /** @param folder the unguessable part of the address. */
  find(folder: string, name: string): Promise<PublishedReport | undefined>;
}

export interface ReportShelfOptions {
  readonly store: Store;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
}

/** What is known of a file before it is read. */
interface Entry extends Omit<PublishedReport, "read"> {
  readonly pieces: number;
}

const MOST_BYTES = 32 * 1024 * 1024;
/** Stores wait for one value at a time: of this many characters, none makes the others wait long. */
const PIECE = 256 * 1024;
const FOLDER = /^[0-9a-f]{32}$/;
const NAME = /^[a-z0-9][a-z0-9._-]{0,79}$/;
const TYPE = /^[a-z]{1,20}\/[a-z0-9.+-]{1,60}(?:; charset=utf-8)?$/;

/** Keeps files in pieces. What they are is written last: a file that can be found is whole. */
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
      await new Promise((done) => setImmediate(done)); // A store in a file answers at once: others have their turn.
    }
    return body;
  }
}

/** @throws Problem `payload-too-large`; TypeError for a name or a type that is none. */
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
