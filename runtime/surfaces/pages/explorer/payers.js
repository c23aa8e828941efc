import { Stopped, switchTo } from "./chain.js";
import { h } from "./dom.js";
import { signIn } from "./sign-in.js";
import { FACTS, readTime, toPayment } from "./x402.js";

/**
 * Pays offers. `pay` resolves to the value of the PAYMENT-SIGNATURE header and rejects with a sentence.
 * @typedef {{ name: string, canPay: (offer: import("./x402.js").Offer) => boolean, pay: (challenge: import("./x402.js").Challenge, offer: import("./x402.js").Offer) => Promise<string>, signIn?: (asked: import("./sign-in.js").SignIn) => Promise<string> }} Payer
 */

/**
 * An Ethereum wallet in the browser (EIP-1193).
 * @typedef {{ request: (call: { method: string, params?: readonly unknown[] }) => Promise<unknown> }} Provider
 */

/**
 * A sandbox accepts its play money only: its tokens have the real tokens' addresses, so a real wallet's signature would
 * also be valid on the real chain.
 * @param {HTMLElement} status where the page says what it waits for
 */
export const findPayers = (status) => (FACTS.sandbox ? [PLAY_MONEY] : findWallets(status));

/** The sandbox's own buyer. @type {Payer} */
const PLAY_MONEY = {
  name: "play money",
  canPay: () => true,
  async pay(challenge, offer) {
    const response = await fetch(`${location.pathname.replace(/\/docs(?:\/(?:services\/)?[^/]*)?$/, "")}/sandbox/pay`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...challenge, accepts: [offer] }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail ?? `the sandbox answered ${response.status}`);
    return answer.payment;
  },
};

/** How long to wait for wallets to announce themselves (EIP-6963). They do so at once. */
const ANNOUNCE_MS = 50;

/** What a wallet is called that announces no name. */
const UNNAMED = "browser wallet";

/** @typedef {{ info: { uuid: string, name: string }, provider: Provider }} Announcement */

/**
 * @param {HTMLElement} status
 * @returns {Promise<Payer[]>}
 */
async function findWallets(status) {
  /** By the wallet's id: some announce themselves twice. @type {Map<string, { name: string, provider: Provider }>} */
  const found = new Map();
  const announce = (/** @type {Event} */ event) => {
    const { info, provider } = /** @type {CustomEvent<Partial<Announcement> | null>} */ (event).detail ?? {};
    if (info && provider) found.set(info.uuid, { name: info.name || UNNAMED, provider: withEnd(provider, status) });
  };
  addEventListener("eip6963:announceProvider", announce);
  dispatchEvent(new Event("eip6963:requestProvider"));
  await new Promise((done) => setTimeout(done, ANNOUNCE_MS));
  removeEventListener("eip6963:announceProvider", announce);
  const { ethereum } = /** @type {{ ethereum?: Provider }} */ (/** @type {unknown} */ (window));
  if (found.size === 0 && ethereum) found.set("", { name: UNNAMED, provider: withEnd(ethereum, status) });
  return [...found.values()].map(({ name, provider }) => ({
    name,
    canPay: ({ network, scheme }) => network.startsWith("eip155:") && scheme === "exact",
    pay: (challenge, offer) => payWithWallet(provider, challenge, offer),
    signIn: (asked) => signIn(provider, asked),
  }));
}

/**
 * A wallet's provider with a button below the status, shown while the wallet is asked, that ends the waiting: some wallets
 * never answer. A later answer is dropped.
 * @param {Provider} provider
 * @param {HTMLElement} status
 * @returns {Provider}
 */
const withEnd = (provider, status) => ({
  async request(call) {
    const button = h("button", { type: "button", class: "pay" }, "Stop waiting for the wallet");
    const ended = new Promise((_, reject) => {
      const why = "you did not wait for the wallet. What it signs now is not sent.";
      button.addEventListener("click", () => reject(new Stopped(why)));
    });
    status.after(button);
    try {
      return await Promise.race([provider.request(call), ended]);
    } finally {
      button.remove();
    }
  },
});

/**
 * Has a wallet sign a transfer authorization (EIP-3009) for exactly the offer.
 * @param {Provider} provider
 * @param {import("./x402.js").Challenge} challenge
 * @param {import("./x402.js").Offer} offer
 */
async function payWithWallet(provider, challenge, offer) {
  const accounts = /** @type {string[]} */ (await provider.request({ method: "eth_requestAccounts" }));
  const [from] = accounts;
  if (from === undefined) throw new Error("The wallet has no account for this page.");
  const chainId = Number(offer.network.slice("eip155:".length));
  await switchTo(provider, chainId);
  const now = readTime();
  const authorization = {
    from,
    to: offer.payTo,
    value: offer.amount,
    validAfter: String(now - CLOCK_SECONDS),
    validBefore: String(now + offer.maxTimeoutSeconds),
    nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
  };
  const typed = { ...toTypes(chainId, offer), message: authorization };
  const params = [from, JSON.stringify(typed)];
  const signed = /** @type {string} */ (await provider.request({ method: "eth_signTypedData_v4", params }));
  return toPayment(challenge, offer, { signature: withParity(signed), authorization });
}

/**
 * A key's signature as tokens take it, which ends with 27 or 28: some wallets end it with 0 or 1. That of a Safe, which
 * begins with an owner's address in 32 bytes, may end so, too.
 * @param {string} signature
 */
const withParity = (signature) =>
  /^0x(?!0{24})[0-9a-f]{128}0[01]$/i.test(signature)
    ? signature.slice(0, -2) + (signature.endsWith("0") ? "1b" : "1c")
    : signature;

/** How many seconds the chain's clock may be behind. */
const CLOCK_SECONDS = 600;

/**
 * The typed data of EIP-3009's TransferWithAuthorization, for the token that the offer names.
 * @param {number} chainId
 * @param {import("./x402.js").Offer} offer
 */
function toTypes(chainId, { asset, extra }) {
  const field = (/** @type {string} */ type, /** @type {string} */ name) => ({ name, type });
  return {
    domain: { name: extra.name, version: extra.version, chainId, verifyingContract: asset },
    primaryType: "TransferWithAuthorization",
    types: {
      EIP712Domain: [
        field("string", "name"),
        field("string", "version"),
        field("uint256", "chainId"),
        field("address", "verifyingContract"),
      ],
      TransferWithAuthorization: [
        field("address", "from"),
        field("address", "to"),
        field("uint256", "value"),
        field("uint256", "validAfter"),
        field("uint256", "validBefore"),
        field("bytes32", "nonce"),
      ],
    },
  };
}

/** @param {Uint8Array} bytes */
const toHex = (bytes) => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;

/**
 * Wallets reject with an object that has a message; code 4001 means that the user declined (EIP-1193), 4902 that the wallet
 * lacks the chain (EIP-3326), which some wrap.
 * @param {unknown} error
 * @param {string} what it was to sign, such as "The payment"
 */
export function toSentence(error, what) {
  const { code, message, data } = /** @type {WalletError} */ (error ?? {});
  const codes = [code, data?.originalError?.code];
  if (codes.includes(4001)) return "You declined in the wallet. Nothing was paid.";
  if (codes.includes(4902))
    return "The wallet does not know the network that this is paid on: add it there, and try again. Nothing was paid.";
  const why = typeof error === "string" ? error : typeof message === "string" ? message : "the wallet does not say why";
  return `${what} could not be signed: ${why.replace(/[^.!?]$/, "$&.")} Nothing was paid.`;
}

/** @typedef {{ code?: unknown, message?: unknown, data?: { originalError?: { code?: unknown } } | null }} WalletError */
