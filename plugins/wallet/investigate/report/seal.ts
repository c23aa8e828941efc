import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Host } from "#plugin";
import type { Assessment } from "../score/score.ts";

/** The statement that is signed as JCS text (RFC 8785). */
export interface SealedStatement extends Pick<Assessment, "score" | "verdict"> {
  readonly domain: string;
  readonly address: string;
  readonly investigated_at: number;
  /** SHA-256 of report.md and of report.json, 64 hex characters. */
  readonly report_sha256: string;
  readonly data_sha256: string;
  /** SHA-256 of the 64 bytes of both digests, that of the report first. */
  readonly merkle_root: string;
}

/** A signed statement. */
export interface Seal {
  readonly statement: SealedStatement;
  /** The treasury's address. */
  readonly signer: string;
  /** EIP-191 over the statement's JCS text. */
  readonly signature: string;
}

/** The digests of the files and their Merkle root. */
export function toDigests(
  report: string,
  data: string,
): Pick<SealedStatement, "report_sha256" | "data_sha256" | "merkle_root"> {
  const [report_sha256, data_sha256] = [sha256(report), sha256(data)];
  return { report_sha256, data_sha256, merkle_root: sha256(Buffer.from(report_sha256 + data_sha256, "hex")) };
}

/** Signs with the treasury's key. */
export async function seal(statement: SealedStatement, { treasury }: Pick<Host, "treasury">): Promise<Seal> {
  const text = canonicalize(statement) as string; // `canonicalize` returns undefined only for values that are not objects.
  const [signature, signer] = await Promise.all([treasury.signMessage(text), treasury.evmAddress()]);
  return { statement, signer, signature };
}

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
