import { randomBytes } from "node:crypto";
import type { Clock } from "../../api/capabilities.ts";
import type { Store } from "../store.ts";
import { type Claim, readClaim, toMessage } from "./claim.ts";

/** A wallet that has proved itself by a signature. */
export interface SignedInWallet {
  readonly address: string;
  /** The accounts as `<CAIP-2>:<address>`: on all networks of its kind for a key, on one network for a contract. */
  readonly accounts: readonly string[];
  /** Identifies the wallet in counters. */
  readonly id: string;
}

/** Wallets that sign in (x402 extension `sign-in-with-x`; EIP-4361 and CAIP-122). */
export interface SignIns {
  /** The sign-in extension of a challenge, with a new nonce each time. */
  declare(): Readonly<Record<string, unknown>>;
  /**
   * Verifies a proof, which can be used once. Returns the wallet, or a sentence that says why it is refused.
   * @param raw the value of the header SIGN-IN-WITH-X (base64 of JSON), or the object itself
   * @throws Problem `unavailable`, `upstream-failed` when the verification failed; `rate-limited`.
   */
  verify(raw: string | object): Promise<SignedInWallet | string>;
}

/**
 * Whether a wallet has signed a text: `key` when its own key did, `contract` when the contract at the address accepts
 * the signature (ERC-1271). @throws Problem `upstream-failed` when the chain cannot be asked; `rate-limited`.
 */
export type ProveWallet = (claim: {
  readonly network: string;
  readonly address: string;
  readonly message: string;
  readonly signature: string;
}) => Promise<"key" | "contract" | undefined>;

export interface SignInsDeps {
  /** The public base URL; a proof must name its host and origin. */
  readonly baseUrl: string;
  /** CAIP-2. */
  readonly networks: readonly string[];
  readonly prove: ProveWallet;
  readonly store: Store;
  readonly clock: Clock;
}

/** The maximum age of a proof. */
const LIFE_MS = 5 * 60_000;
/** How far a wallet's clock may be ahead. */
const SKEW_MS = 60_000;
/** Nonces are kept longer than proofs are valid, since the clocks of processes differ, and may be set. */
const MARGIN_MS = 60 * 60_000;
/** How the signature of a contract that is not deployed yet ends. */
const ERC_6492 = "6492".repeat(16);
const UNDEPLOYED = ": a contract must be deployed, as it is by its first payment, before it signs in";

export function createSignIns({ baseUrl, networks, prove, store, clock }: SignInsDeps): SignIns {
  const { host, origin } = new URL(baseUrl);
  const supportedChains = networks.map((chainId) => ({ chainId, type: typeOf(chainId) }));

  return {
    declare: () => ({
      info: {
        domain: host,
        uri: origin,
        version: "1",
        nonce: randomBytes(12).toString("hex"),
        issuedAt: new Date(clock.now()).toISOString(),
      },
      supportedChains,
    }),
    async verify(raw) {
      const claim = readClaim(raw);
      if (typeof claim === "string") return claim;
      const complaint = explain(claim);
      if (complaint !== undefined) return complaint;
      const { address, chainId: network, signature, nonce } = claim;
      const kind = await prove({ network, address, signature, message: toMessage(claim) });
      if (!kind) return `the signature is not the wallet's${signature.endsWith(ERC_6492) ? UNDEPLOYED : ""}`;
      const wallet = toWallet(address, network, kind);
      const isFirst = await store.putIfAbsent(`signed-in:${wallet.id}:${nonce}`, 1, LIFE_MS + SKEW_MS + MARGIN_MS);
      return isFirst ? wallet : "the nonce was used before: ask for a new challenge";
    },
  };

  function explain({ domain, uri, version, chainId, ...times }: Claim): string | undefined {
    if (domain !== host) return `domain is ${quote(domain)}, and must be ${quote(host)}`;
    if (URL.parse(uri)?.origin !== origin) return `uri is ${quote(uri)}, and must be of ${quote(origin)}`;
    if (version !== "1") return `version is ${quote(version)}, and must be "1"`;
    if (!networks.includes(chainId)) return `chainId is ${quote(chainId)}, and must be one of ${networks.join(", ")}`;
    return explainTimes(times, clock.now());
  }

  function toWallet(address: string, network: string, kind: "key" | "contract"): SignedInWallet {
    const [namespace = ""] = network.split(":");
    const name = namespace === "eip155" ? address.toLowerCase() : address;
    if (kind === "contract") return { address, accounts: [`${network}:${name}`], id: `${network}:${name}` };
    const own = networks.filter((one) => one.startsWith(`${namespace}:`));
    return { address, accounts: own.map((one) => `${one}:${name}`), id: `${namespace}:${name}` };
  }
}

function explainTimes(
  { issuedAt, expirationTime, notBefore }: Pick<Claim, "issuedAt" | "expirationTime" | "notBefore">,
  now: number,
): string | undefined {
  const issued = Date.parse(issuedAt);
  if (!(issued <= now + SKEW_MS)) return `issuedAt is ${quote(issuedAt)}, which is no time before now`;
  if (issued < now - LIFE_MS)
    return `issuedAt is ${quote(issuedAt)}: it may be ${LIFE_MS / 60_000} minutes old at most`;
  if (expirationTime !== undefined && !(Date.parse(expirationTime) > now)) return "expirationTime is over";
  if (notBefore !== undefined && !(Date.parse(notBefore) <= now + SKEW_MS)) return "notBefore is still to come";
  return undefined;
}

const typeOf = (network: string): string => (network.startsWith("eip155:") ? "eip191" : "ed25519");

const quote = (text: string): string => JSON.stringify(text.slice(0, 100));
