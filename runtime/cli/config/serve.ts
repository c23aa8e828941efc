import { isIP } from "node:net";
import { keccak_256 } from "@noble/hashes/sha3";
import { isEvm, type Manifest, type RailManifest, type SiteManifest } from "../../core/set/manifest.ts";
import type { Config } from "./config.ts";
import { createReader } from "./reader.ts";
import { base58Bytes, TOKEN, type ValueFormat, WEB_URL } from "./values.ts";

/** The environment's values for one rail. */
export interface RailVariables {
  /** The receiving address. */
  readonly payTo: string;
  /** The chain's RPC URL. */
  readonly rpc: string;
}

/** Reads the variables of one rail. Empty text for those that `missingForServe` complains about. */
export function railVariables(config: Config, rail: RailManifest): RailVariables {
  const { value } = createReader(config.env, () => "");
  return { payTo: value(rail.pay_to, payTo(rail)) ?? "", rpc: value(rail.rpc, WEB_URL) ?? "" };
}

/** The parts of a set that name variables. */
export interface Sold {
  readonly site: SiteManifest;
  readonly manifests: readonly Manifest[];
}

/** What keeps `serve` from starting: each variable that is missing or malformed, one sentence each. */
export function missingForServe(config: Config, { site, manifests }: Sold): string[] {
  const { faults, fault, text, value } = createReader(config.env, () => "");
  const need = (names: string, met: unknown, what: string): void => {
    if (!met) fault(`${names} is not set: ${what}`);
  };
  const isOn = (family: string): boolean => site.rails.some(({ network }) => network.startsWith(family));

  need("PUBLIC_BASE_URL", config.publicBaseUrl, "the address that buyers use, like https://pay.example.com");
  if (config.publicBaseUrl && !isPrivate(config.publicBaseUrl))
    fault(
      `PUBLIC_BASE_URL is "${config.publicBaseUrl}", but must begin with https://: on plain http, payments can be read on the way`,
    );
  if (isOn("eip155:"))
    need("TREASURY_EVM_KEY (or TREASURY_EVM_KEY_FILE)", config.treasury.evmKey, "it signs, anchors and settles yen");
  if (isOn("solana:"))
    need("TREASURY_SOLANA_KEY (or TREASURY_SOLANA_KEY_FILE)", config.treasury.solanaKey, "it anchors on Solana");
  if (site.rails.some(({ facilitator }) => facilitator === "remote"))
    need(
      "FACILITATOR_URL",
      config.facilitator.url ?? config.facilitator.cdp,
      "the x402 facilitator, or set CDP_API_KEY_ID and CDP_API_KEY_SECRET for Coinbase's",
    );
  for (const rail of site.rails) {
    need(rail.pay_to, text(rail.pay_to), `the address that receives ${rail.title}`);
    value(rail.pay_to, payTo(rail));
    need(rail.rpc, text(rail.rpc), `the RPC URL of ${rail.network}`);
    value(rail.rpc, WEB_URL);
  }
  for (const { id, title, url, variable, key } of site.upstreams ?? []) {
    const users = manifests.filter(({ upstreams }) => upstreams?.includes(id)).map((manifest) => manifest.id);
    const isRails = site.rails.some(({ rpc }) => rpc === variable);
    if (users.length === 0) continue;
    if (key) value(key.variable, TOKEN);
    if (variable === undefined || isRails) continue;
    need(variable, text(variable) ?? url, `the URL of ${title}, which is read by ${users.join(", ")}`);
    value(variable, WEB_URL);
  }
  return [...faults];
}

/** Whether the address is https or on this machine: nobody else can read the payments. */
function isPrivate(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  const isLoopback =
    hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) && hostname.startsWith("127."));
  return protocol === "https:" || Boolean(isLoopback);
}

function payTo(rail: RailManifest): ValueFormat<string> {
  const { asset, symbol } = rail;
  const isToken = (text: string): boolean => text.toLowerCase() === asset.toLowerCase();
  return isEvm(rail)
    ? {
        right: `an EVM address (0x and 40 hex characters whose upper and lower case fit its checksum), not ${symbol}'s own`,
        parse: (text) => (isEvmAddress(text) && !isToken(text) ? text : undefined),
      }
    : {
        right: `a Solana address (32 bytes in base58), not ${symbol}'s own`,
        parse: (text) => (base58Bytes(text, 32) && !isToken(text) ? text : undefined),
      };
}

/** EIP-55. An address in one case has no checksum, and passes. */
function isEvmAddress(text: string): boolean {
  const digits = /^0x([\da-fA-F]{40})$/.exec(text)?.[1];
  if (digits === undefined) return false;
  const lower = digits.toLowerCase();
  if (digits === lower || digits === digits.toUpperCase()) return !/^0+$/.test(digits);
  const hash = Buffer.from(keccak_256(lower)).toString("hex");
  return [...digits].every(
    (digit, i) => digit === (Number.parseInt(hash[i] ?? "0", 16) > 7 ? digit.toUpperCase() : digit.toLowerCase()),
  );
}
