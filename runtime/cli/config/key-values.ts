/** The formats of keys and credentials in environment variables. */
import type { KeyObject } from "node:crypto";
import { base58 } from "@scure/base";
import type { Hex } from "../../api/capabilities.ts";
import { parseCdpSecret } from "../../drivers/facilitator/cdp-secret.ts";
import { parseIdentityKeys } from "../../drivers/peers/identity-keys.ts";
import { parseEvmKey, parseSolanaKey } from "../../drivers/treasury-keys.ts";
import { matching, type ValueFormat } from "./values.ts";

/** 64 hex digits with or without 0x; the value has 0x. */
export const EVM_KEY: ValueFormat<Hex> = {
  right: "an EVM private key",
  hidden: true,
  parse: (text) => parseEvmKey(/^[\da-f]{64}$/i.test(text) ? `0x${text}` : text),
};

/** Base58, or the array that `solana-keygen` writes; the value is base58. */
export const SOLANA_KEY: ValueFormat<string> = {
  right: "a Solana key pair",
  hidden: true,
  parse: (text) => {
    parseSolanaKey(text);
    return text.startsWith("[") ? base58.encode(Uint8Array.from(JSON.parse(text) as number[])) : text;
  },
};

/** Ed25519 private keys, the signing one first. */
export const IDENTITY_KEYS: ValueFormat<readonly KeyObject[]> = {
  right: "Ed25519 private keys, separated by commas: PKCS #8 in base64, or seeds of 32 bytes in hex or base64",
  hidden: true,
  parse: parseIdentityKeys,
};

/** The id of an API key of Coinbase's Developer Platform. */
export const CDP_KEY_ID = matching(
  "the id of a CDP API key, like 7a1b2c3d-… or organizations/…/apiKeys/…",
  /^[\w/-]{8,200}$/,
);

export const CDP_KEY_SECRET: ValueFormat<string> = {
  right: "the secret of a CDP API key: base64, or a PEM text",
  parse: (text) => (/^[A-Za-z\d+/]{40,}={0,2}$|^-----BEGIN /.test(text) && parseCdpSecret(text) ? text : undefined),
};

/** A value of the header `authorization`, with its scheme. */
export const LOGIN: ValueFormat<string> = {
  ...matching('a credential without spaces but behind its scheme, as in "Bearer s3cret"', /^([\w-]+ )?[!-~]+$/),
  hidden: true,
};

/** A credential that is sent in a header. */
export const TOKEN: ValueFormat<string> = {
  ...matching("a credential of printable characters without spaces", /^[\x21-\x7e]+$/),
  hidden: true,
};

export const ADMIN_TOKEN: ValueFormat<string> = {
  ...matching("at least 24 letters, digits, - or _", /^[\w-]{24,}$/),
  hidden: true,
};
