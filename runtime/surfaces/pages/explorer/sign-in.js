import { Stopped, switchTo } from "./chain.js";
import { h } from "./dom.js";
import { encodeHeader, FACTS } from "./x402.js";

/**
 * What a challenge says about signing in (x402 extension `sign-in-with-x`).
 * @typedef {{ info: Readonly<Record<string, string>>, supportedChains: readonly { chainId: string, type: string }[] }} SignIn
 */

/**
 * @param {import("./x402.js").Challenge} challenge
 * @returns {SignIn | undefined}
 */
export const signInOf = ({ extensions }) =>
  /** @type {Readonly<Record<string, SignIn | undefined>> | undefined} */ (extensions)?.["sign-in-with-x"];

/**
 * Has a wallet sign in (EIP-4361), for this page's own host alone.
 * @param {import("./payers.js").Provider} provider
 * @param {SignIn} asked
 * @returns {Promise<string>} the value of the header SIGN-IN-WITH-X
 */
export async function signIn(provider, { info, supportedChains }) {
  if (info.domain !== location.host || info.uri !== location.origin)
    throw new Error(`The challenge is for ${info.domain}, which is not this page's host.`);
  const [address] = /** @type {string[]} */ (await provider.request({ method: "eth_requestAccounts" }));
  if (address === undefined) throw new Error("The wallet has no account for this page.");
  const current = `eip155:${Number(await provider.request({ method: "eth_chainId" }))}`;
  const evm = supportedChains.filter(({ chainId }) => chainId.startsWith("eip155:"));
  const chain = evm.find(({ chainId }) => chainId === current) ?? evm[0];
  if (!chain) throw new Error("The seller lets no Ethereum wallet sign in.");
  const id = chain.chainId.slice("eip155:".length);
  // A contract signs for the chain that it is on. A key's signature counts where the wallet does not change, too.
  await switchTo(provider, Number(id)).catch((error) => {
    if (error instanceof Stopped) throw error;
  });
  const message = [
    `${info.domain} wants you to sign in with your Ethereum account:`,
    address,
    "",
    "",
    `URI: ${info.uri}`,
    `Version: ${info.version}`,
    `Chain ID: ${id}`,
    `Nonce: ${info.nonce}`,
    `Issued At: ${info.issuedAt}`,
  ].join("\n");
  const hex = Array.from(new TextEncoder().encode(message), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const signature = await provider.request({ method: "personal_sign", params: [`0x${hex}`, address] });
  return encodeHeader({ ...info, ...chain, address, signature });
}

/**
 * The section shown when a wallet must sign in but nothing is paid.
 * @param {string} error why
 * @param {readonly HTMLElement[]} buttons
 * @param {string} url what was asked for
 */
export function toSigning(error, buttons, url) {
  const none = FACTS.sandbox ? "A sandbox's page has no wallet that signs in" : "No browser wallet was found";
  const hint =
    buttons.length > 0
      ? ["You sign a text for this site alone. Nothing is paid."]
      : [`${none}: sign in `, ...toWay(url)];
  return h(
    "section",
    { class: "answer due" },
    h("h3", {}, "402: a wallet must sign in"),
    h("p", {}, `The seller says: ${error}.`),
    ...buttons,
    h("p", { class: "hint" }, ...hint),
  );
}

/**
 * How to sign in outside of the page: the command asks for purchases alone.
 * @param {string} url what was asked for
 */
function toWay(url) {
  const at = url.indexOf("/v1/purchases");
  if (at < 0) return ["by an x402 client that knows sign-in-with-x."];
  return ["on the command line: ", h("code", {}, `npx payphone purchases --url ${location.origin}${url.slice(0, at)}`)];
}
