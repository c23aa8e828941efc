import { createPublicKey, verify } from "node:crypto";
import { base58 } from "@scure/base";
import { readKey, type SolanaAccount } from "./accounts.ts";
import type { SolKeys } from "./keys.ts";
import { type FindHolder, type SolTarget, toTokenHolder, toWallet } from "./target.ts";

export interface SnsAccounts {
  readonly domain: SolanaAccount;
  readonly token: SolanaAccount | undefined;
  readonly recordV2: SolanaAccount | undefined;
  readonly recordV1: SolanaAccount | undefined;
}

/** Every SNS account begins with three keys: parent, owner, class. */
const OWNER_AT = 32;
const HEADER_BYTES = 96;
/** The first byte of an NftRecord while the name is an NFT. */
const ACTIVE = 2;
/** SNS-IP 3's code for "signed by a Solana wallet". */
const SIGNED_ON_SOLANA = 1;
const KEY_BYTES = 32;
const ED25519_SPKI = Buffer.from("302a300506032b6570032100", "hex");

const UNCONFIRMED: SolTarget = { refusal: "Its SOL record names a wallet that has not confirmed it." };

/** The name's target according to SNS (SNS-IP 5), except owners that are programs. */
export async function toSnsTarget(accounts: SnsAccounts, keys: SolKeys, findHolder: FindHolder): Promise<SolTarget> {
  const { domain, token, recordV2, recordV1 } = accounts;
  if (domain.data.length < HEADER_BYTES) return { refusal: "Its entry in SNS is of an unknown form." };
  const owner = readKey(domain.data, OWNER_AT);
  if (token?.data[0] === ACTIVE) return toTokenHolder(keys.tokenMint, findHolder);
  const target = recordV2 && toRecordV2Target(recordV2.data, owner);
  if (target) return target;
  if (recordV1 && isSignedV1(recordV1.data, keys.recordV1, owner))
    return { wallet: readKey(recordV1.data, HEADER_BYTES) };
  return toWallet(owner);
}

/**
 * Undefined for what a former owner has set, which counts no more.
 * Layout (SNS-IP 3): two signature kinds (2 × u16), content length (u32), key that set it, key that confirmed it, content.
 */
function toRecordV2Target(data: Buffer, owner: string): SolTarget | undefined {
  const content = HEADER_BYTES + 8 + 2 * KEY_BYTES;
  if (data.length < content + KEY_BYTES) return UNCONFIRMED;
  const signed = [data.readUInt16LE(HEADER_BYTES), data.readUInt16LE(HEADER_BYTES + 2)];
  const length = data.readUInt32LE(HEADER_BYTES + 4);
  if (signed.some((kind) => kind !== SIGNED_ON_SOLANA) || length !== KEY_BYTES) return UNCONFIRMED;
  if (readKey(data, HEADER_BYTES + 8) !== owner) return undefined;
  const target = readKey(data, content);
  return readKey(data, content - KEY_BYTES) === target ? { wallet: target } : UNCONFIRMED;
}

/** V1: the content, then the owner's signature over content and record address, as hex text. */
function isSignedV1(data: Buffer, address: string, owner: string): boolean {
  const content = data.subarray(HEADER_BYTES, HEADER_BYTES + KEY_BYTES);
  const signature = data.subarray(HEADER_BYTES + KEY_BYTES, HEADER_BYTES + KEY_BYTES + 64);
  const message = Buffer.concat([content, base58.decode(address)]).toString("hex");
  const der = Buffer.concat([ED25519_SPKI, base58.decode(owner)]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return verify(null, Buffer.from(message), key, signature);
}
