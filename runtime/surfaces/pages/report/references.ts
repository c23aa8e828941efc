import { getAddress } from "viem/utils";
import { EVM_ADDRESS, SOLANA_ADDRESS } from "../../../core/account.ts";
import type { SiteManifest } from "../../../core/set/manifest.ts";
import { type Html, html } from "../html.ts";

/** Shows an address or a transaction; undefined for a text that is neither. */
export type ToReference = (text: string) => Html | undefined;

interface Kind {
  readonly pattern: RegExp;
  readonly family: "eip155" | "solana";
  readonly is: "tx" | "address";
}

const KINDS: readonly Kind[] = [
  { pattern: /^0x[0-9a-fA-F]{64}$/, family: "eip155", is: "tx" },
  { pattern: EVM_ADDRESS, family: "eip155", is: "address" },
  { pattern: /^[1-9A-HJ-NP-Za-km-z]{86,88}$/, family: "solana", is: "tx" },
  { pattern: SOLANA_ADDRESS, family: "solana", is: "address" },
];

/** EVM addresses are shown in EIP-55 form. The explorers are those of the first rail of each family of chains. */
export function createToReference({ rails }: Pick<SiteManifest, "rails">): ToReference {
  const railOf = (family: Kind["family"]) => rails.find(({ network }) => network.startsWith(`${family}:`));
  const explorers = { eip155: railOf("eip155"), solana: railOf("solana") };
  return (text) => {
    const kind = KINDS.find(({ pattern }) => pattern.test(text));
    if (!kind) return undefined;
    const { family, is } = kind;
    const written = family === "eip155" && is === "address" ? getAddress(text) : text;
    const url = is === "tx" ? explorers[family]?.explorer : explorers[family]?.explorer_address;
    return toShort(written, url?.replace(`{${is}}`, written));
  };
}

/** The whole text is in the page, so that it can be found, copied and printed; only its middle is hidden. */
function toShort(text: string, url: string | undefined): Html {
  const [head, tail] = [text.startsWith("0x") ? 6 : 4, 4];
  const parts = html`${text.slice(0, head)}<span class="middle">${text.slice(head, -tail)}</span>${text.slice(-tail)}`;
  const shown = url === undefined ? html`<span title="${text}">${parts}</span>` : toOutsideLink(url, parts, text);
  return html`<span class="ref">${shown}${toCopy(text)}</span>`;
}

/** A copy button; the page's script shows and activates it. */
export const toCopy = (text: string): Html =>
  html`<button type="button" class="copy" data-copy="${text}" aria-label="Copy ${text}" hidden></button>`;

/** A link to another site. */
export const toOutsideLink = (url: string, text: Html | string, title?: string): Html =>
  html`<a href="${url}" rel="noreferrer"${title !== undefined && html` title="${title}"`}>${text}</a>`;
