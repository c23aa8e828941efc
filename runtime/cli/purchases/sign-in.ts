import { sign } from "node:crypto";
import { base58 } from "@scure/base";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { isEvm, type RailManifest } from "../../core/set/manifest.ts";
import { type Claim, readClaim, toMessage } from "../../core/wallets/claim.ts";
import { parseSolanaKey } from "../../drivers/treasury-keys.ts";
import { ask, field, type SellerResponse, textField } from "../call/http.ts";
import { decodedChallenge } from "../call/offers.ts";
import { printable } from "../printable.ts";

/** A key that can sign texts. */
export interface TextSigner {
  readonly address: string;
  sign(text: string): Promise<string>;
}

/** Opens the key of a rail's chain. */
async function openSigner(rail: RailManifest, key: string): Promise<TextSigner> {
  if (!isEvm(rail)) return openSolana(key);
  const { privateKeyToAccount } = await import("viem/accounts");
  const account = privateKeyToAccount(key as Hex);
  return { address: account.address, sign: (message) => account.signMessage({ message }) };
}

function openSolana(key: string): TextSigner {
  const { address, privateKey } = parseSolanaKey(key);
  return { address, sign: async (text) => base58.encode(sign(null, Buffer.from(text), privateKey)) };
}

/**
 * Requests a resource of a wallet: signs the nonce of the seller's 402 and repeats the request (x402 extension
 * `sign-in-with-x`).
 * @param key.rails the rails of the key, which signs for the first one that the seller takes.
 * @returns undefined when the seller takes none of them.
 * @throws Problem `upstream-failed` when the seller asks for another host's signature, or for none that can be made.
 */
export async function askSignedIn(
  url: string,
  key: { readonly rails: readonly RailManifest[]; readonly secret: string },
  signal: AbortSignal,
): Promise<SellerResponse | undefined> {
  const request = { method: "GET", url, body: undefined };
  const first = await ask(request, { signal });
  if (first.status !== 402) return first;
  const declared = declaredIn(first);
  const chains = field(declared, "supportedChains");
  const chainOf = ({ network }: RailManifest): unknown =>
    Array.isArray(chains) ? chains.find((one) => textField(one, "chainId") === network) : undefined;
  const rail = key.rails.find(chainOf);
  if (!rail) return undefined;
  const { address, sign: signText } = await openSigner(rail, key.secret);
  const info = field(declared, "info");
  const claim = checked({ ...(info as object), ...(chainOf(rail) as object), address }, new URL(url).origin);
  const signature = await signText(toMessage(claim));
  const proof = Buffer.from(JSON.stringify({ ...claim, signature })).toString("base64");
  return ask(request, { signal, headers: { "sign-in-with-x": proof } });
}

/** What the seller's 402 says about signing in. */
function declaredIn({ headers, json }: SellerResponse): unknown {
  const header = headers.get("payment-required");
  return field(field(header ? decodedChallenge(header) : json, "extensions"), "sign-in-with-x");
}

/**
 * The claim that the seller asks for. It must name the seller's own host; otherwise this seller could sign in elsewhere
 * with it.
 */
function checked(given: object, origin: string): Claim {
  const claim = readClaim({ ...given, signature: "none yet" });
  if (typeof claim === "string")
    throw new Problem("upstream-failed", `the seller asks for a signature that cannot be made: ${claim}`);
  if (claim.domain !== new URL(origin).host || URL.parse(claim.uri)?.origin !== origin)
    throw new Problem(
      "upstream-failed",
      printable(`the seller asks for a signature for ${claim.domain}, which is not ${origin}`),
    );
  return claim;
}
