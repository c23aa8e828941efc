import { createPublicKey, verify } from "node:crypto";
import { base58 } from "@scure/base";
import { type Account, readKey } from "./sol-accounts.ts";
import type { SolKeys } from "./sol-keys.ts";
import { type FindHolder, type Target, toTokenHolder, toWallet } from "./sol-target.ts";

/** What SNS knows of a name, account by account. */
export interface SnsAccounts {
  readonly domain: Account;
  readonly token: Account | undefined;
  readonly recordV2: Account | undefined;
  readonly recordV1: Account | undefined;
}

/** Every account of SNS begins with three keys: what it is under, its owner, its class. */
const OWNER_AT = 32;
const HEADER_BYTES = 96;
/** The first byte of an NftRecord while the name is a token. */
const ACTIVE = 2;
/** How SNS-IP 3 says that a Solana wallet has signed. */
const SIGNED_ON_SOLANA = 1;
const KEY_BYTES = 32;
const ED25519_SPKI = Buffer.from("302a300506032b6570032100", "hex");

const UNCONFIRMED: Target = { refusal: "Its SOL record names a wallet that has not confirmed it." };

/** Whom SNS means by a name: SNS-IP 5, without owners that are programs. */
export async function toSnsTarget(accounts: SnsAccounts, keys: SolKeys, findHolder: FindHolder): Promise<Target> {
  const { domain, token, recordV2, recordV1 } = accounts;
  if (domain.data.length < HEADER_BYTES) return { refusal: "Its entry in SNS is of an unknown form." };
  const owner = readKey(domain.data, OWNER_AT);
  if (token?.data[0] === ACTIVE) return toTokenHolder(keys.tokenMint, findHolder);
  if (recordV2) return toRecordV2Target(recordV2.data, owner);
  if (recordV1 && isSignedV1(recordV1.data, keys.recordV1, owner))
    return { wallet: readKey(recordV1.data, HEADER_BYTES) };
  return toWallet(owner);
}

/** SNS-IP 3: how both ids were signed (2 × u16), the content's length (u32), who set it, who confirmed it, the content. */
function toRecordV2Target(data: Buffer, owner: string): Promise<Target> | Target {
  const content = HEADER_BYTES + 8 + 2 * KEY_BYTES;
  if (data.length < content + KEY_BYTES) return UNCONFIRMED;
  const signed = [data.readUInt16LE(HEADER_BYTES), data.readUInt16LE(HEADER_BYTES + 2)];
  const length = data.readUInt32LE(HEADER_BYTES + 4);
  if (signed.some((kind) => kind !== SIGNED_ON_SOLANA) || length !== KEY_BYTES) return UNCONFIRMED;
  if (readKey(data, HEADER_BYTES + 8) !== owner) return toWallet(owner); // Set by a former owner.
  const target = readKey(data, content);
  return readKey(data, content - KEY_BYTES) === target ? { wallet: target } : UNCONFIRMED;
}

/** The content, and the owner's signature of it and of the record's address, both in hex. */
function isSignedV1(data: Buffer, address: string, owner: string): boolean {
  const content = data.subarray(HEADER_BYTES, HEADER_BYTES + KEY_BYTES);
  const signature = data.subarray(HEADER_BYTES + KEY_BYTES, HEADER_BYTES + KEY_BYTES + 64);
  const message = Buffer.concat([content, base58.decode(address)]).toString("hex");
  const der = Buffer.concat([ED25519_SPKI, base58.decode(owner)]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return verify(null, Buffer.from(message), key, signature);
}
