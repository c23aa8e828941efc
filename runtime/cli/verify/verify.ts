import { readFile } from "node:fs/promises";
import { Problem } from "../../api/problem.ts";
import { tryParseJson } from "../../core/json.ts";
import { EXIT } from "../exit-code.ts";
import { printable, toPrintableJson } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { type Judgement, judge, judgeUnsigned } from "./judgement.ts";
import { findProofs } from "./proofs.ts";

/**
 * Checks all signed offers and receipts in a file (x402 extension `offer-receipt`, format `jws`): the signature against
 * the key that the signer's host publishes (did:web), that this host is the seller, and that the file shows what was
 * signed. Prints one line for each, and for each offer beside them that is not signed. The extension allows other algorithms,
 * identities and formats as well, which it says that it cannot check. Returns the exit code.
 * @throws Problem `bad-request` when the file holds none.
 */
export async function runVerify({ file, json }: { file: string; json: boolean }, terminal: Terminal): Promise<number> {
  const proofs = findProofs(await read(file));
  if (proofs.length === 0) throw new Problem("bad-request", `${file} holds no signed offer and no signed receipt`);
  const judgements: Judgement[] = [];
  for (const proof of proofs) judgements.push(await judge(proof, terminal.signal));
  // Where a signature is not valid, its offer has other terms, or an index that was changed: that says it.
  if (judgements.every(({ valid }) => valid !== false)) judgements.push(...judgeUnsigned(proofs));
  if (json) terminal.out(toPrintableJson(judgements));
  else for (const judgement of judgements) terminal.out(printable(toLine(judgement)));
  if (judgements.some(({ valid }) => valid === false)) return EXIT.failed;
  return judgements.every(({ valid }) => valid) ? EXIT.ok : EXIT.unchecked;
}

/** Reads JSON, also behind a byte order mark, or base64 of JSON as in the headers PAYMENT-RESPONSE and PAYMENT-REQUIRED. */
async function read(file: string): Promise<unknown> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Problem("bad-request", `cannot read ${file} (${error.code})`);
  });
  return tryParseJson(text.replace(/^\uFEFF/, "")) ?? tryParseJson(Buffer.from(text.trim(), "base64").toString());
}

function toLine({ kind, valid, signed_by, payload, error }: Judgement): string {
  if (valid === null) return `CANNOT BE CHECKED: ${error}`;
  if (!valid || payload === null) return `NOT VALID: ${error}`;
  const { resourceUrl, network, amount, asset, payTo, payer, transaction, validUntil, issuedAt } = payload;
  const says =
    kind === "offer"
      ? `${amount} of ${asset} on ${network} to ${payTo} buys ${resourceUrl}${toTime(", until", validUntil)}`
      : `${payer} has paid for ${resourceUrl} on ${network}${transaction ? ` in ${transaction}` : ""}${toTime(", at", issuedAt)}`;
  return `valid ${kind}: ${says}; signed by ${signed_by}`;
}

/** A signed time (Unix seconds) after a word; empty when there is none, which the extension allows for offers. */
function toTime(word: string, seconds: unknown): string {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? "" : `${word} ${date.toISOString()}`;
}
