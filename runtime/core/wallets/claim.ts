import { isObject, tryParseJson } from "../json.ts";
import { LONGEST_SIGNATURE } from "../x402/eip3009.ts";

/** A wallet's sign-in proof, as in the header SIGN-IN-WITH-X (x402 extension `sign-in-with-x`). */
export interface Claim {
  readonly domain: string;
  readonly address: string;
  readonly uri: string;
  readonly version: string;
  /** CAIP-2. */
  readonly chainId: string;
  /** `eip191` or `ed25519`. */
  readonly type: string;
  readonly nonce: string;
  /** ISO 8601, like the other times. */
  readonly issuedAt: string;
  /** 0x hex on EVM, base58 on Solana. */
  readonly signature: string;
  readonly statement?: string;
  readonly expirationTime?: string;
  readonly notBefore?: string;
  readonly requestId?: string;
  readonly resources?: readonly string[];
}

const REQUIRED = ["domain", "address", "uri", "version", "chainId", "type", "nonce", "issuedAt", "signature"] as const;
const OPTIONAL = ["statement", "expirationTime", "notBefore", "requestId"] as const;

/** The base64 of a proof whose signature is as long as may be. */
const MOST_CHARACTERS = 16_384;
const LONGEST_TEXT = 2048;
const MOST_RESOURCES = 16;
const NONCE = /^[A-Za-z0-9]{8,128}$/;
/** Each member becomes one line of the signed text, or a part of one. */
const ONE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u;

/** Reads a proof: base64 text of JSON, or an object. Returns a sentence when it is invalid. */
export function readClaim(raw: string | object): Claim | string {
  const value = typeof raw === "string" ? decode(raw) : raw;
  if (!isObject(value)) return "it is not base64 of a JSON object";
  const given: Record<string, unknown> = Object.fromEntries(
    [...REQUIRED, ...OPTIONAL, "resources" as const].flatMap((key) => (value[key] == null ? [] : [[key, value[key]]])),
  );
  const missing = REQUIRED.find((key) => given[key] === undefined);
  if (missing) return `${missing} is missing`;
  const { resources = [], ...texts } = given;
  // Contracts' signatures are as long as those that they pay with.
  const odd = Object.entries(texts).find(
    ([key, text]) => !isLine(text, key === "signature" ? LONGEST_SIGNATURE : undefined),
  );
  if (odd) return `${odd[0]} is not one line of text`;
  if (!Array.isArray(resources) || resources.length > MOST_RESOURCES || !resources.every((one) => isLine(one)))
    return `resources is not a list of at most ${MOST_RESOURCES} URLs`;
  if (!NONCE.test(given.nonce as string)) return "nonce is not 8 to 128 letters and digits";
  return given as unknown as Claim; // Every member was checked above.
}

/** The signed text: EIP-4361 on EVM; CAIP-122 on Solana, which lacks the empty lines around a statement. */
export function toMessage(claim: Claim): string {
  const { domain, address, statement, chainId, resources } = claim;
  const [namespace, reference] = chainId.split(":");
  const isEvm = namespace === "eip155";
  const said = statement === undefined ? [] : [statement, ""];
  return [
    `${domain} wants you to sign in with your ${isEvm ? "Ethereum" : "Solana"} account:`,
    address,
    "",
    ...(isEvm && statement === undefined ? [""] : said),
    `URI: ${claim.uri}`,
    `Version: ${claim.version}`,
    `Chain ID: ${reference}`,
    `Nonce: ${claim.nonce}`,
    `Issued At: ${claim.issuedAt}`,
    ...(claim.expirationTime === undefined ? [] : [`Expiration Time: ${claim.expirationTime}`]),
    ...(claim.notBefore === undefined ? [] : [`Not Before: ${claim.notBefore}`]),
    ...(claim.requestId === undefined ? [] : [`Request ID: ${claim.requestId}`]),
    ...(resources && resources.length > 0 ? ["Resources:", ...resources.map((one) => `- ${one}`)] : []),
  ].join("\n");
}

const isLine = (text: unknown, longest = LONGEST_TEXT): text is string =>
  typeof text === "string" && text.length <= longest && ONE_LINE.test(text) && text.isWellFormed();

function decode(text: string): unknown {
  if (text.length > MOST_CHARACTERS || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined;
  return tryParseJson(Buffer.from(text, "base64").toString("utf8"));
}
