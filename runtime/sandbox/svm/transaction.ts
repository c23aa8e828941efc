import { createHash } from "node:crypto";
import { base58 } from "@scure/base";
import { VersionedMessage } from "@solana/web3.js";

/** A Solana transaction in its wire format, and its decoded parts. */
export interface WireTransaction {
  readonly raw: Uint8Array;
  /** Base58, one for each required signer; the first is the id of the transaction. */
  readonly signatures: readonly [string, ...string[]];
  /** The signed bytes. */
  readonly messageBytes: Uint8Array;
  /** SHA-256 of the signed bytes: a chain executes a message once, however often it was signed. */
  readonly messageHash: string;
  readonly message: VersionedMessage;
  /** Base58 of the accounts in the message itself. */
  readonly accounts: readonly string[];
}

/** Decodes a legacy or version 0 transaction. @throws Error when the bytes are malformed. */
export function toWireTransaction(raw: Uint8Array): WireTransaction {
  const count = raw[0] ?? 0;
  const split = 1 + SIGNATURE * count;
  if (count === 0 || count > 0x7f || raw.length <= split) throw new Error("io error: unexpected end of file");
  const signatures = Array.from({ length: count }, (_, index) => raw.subarray(1 + SIGNATURE * index).subarray(0, 64));
  const messageBytes = raw.subarray(split);
  const message = VersionedMessage.deserialize(messageBytes);
  if (message.header.numRequiredSignatures !== count) throw new Error("invalid value: number of signatures");
  return {
    raw,
    signatures: signatures.map((signature) => base58.encode(signature)) as [string, ...string[]],
    messageBytes,
    messageHash: createHash("sha256").update(messageBytes).digest("hex"),
    message,
    accounts: message.staticAccountKeys.map((key) => key.toBase58()),
  };
}

const SIGNATURE = 64;
