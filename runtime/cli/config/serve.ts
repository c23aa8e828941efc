import { readFileSync } from "node:fs";
import { facilitatorsOf, isInProcess, REMOTE } from "../../core/rails/facilitators.ts";
import { isSameAddress } from "../../core/rails/tokens.ts";
import {
  type FacilitatorManifest,
  isEvm,
  keysOf,
  type Manifest,
  type RailManifest,
  type SiteManifest,
  upstreamsOf,
} from "../../core/set/manifest.ts";
import { isPrivateUrl } from "../../core/set/site.ts";
import type { Config } from "./config.ts";
import { fitsChecksum } from "./eip55.ts";
import { createReader, type Reader } from "./reader.ts";
import { formatOf } from "./secrets.ts";
import { base58Bytes, HEADERS, type ValueFormat, WEB_URL } from "./values.ts";
import { webhookVariables } from "./webhooks.ts";

/** The environment's values for one rail. */
export interface RailVariables {
  /** The receiving address. */
  readonly payTo: string;
  /** The chain's RPC URL. */
  readonly rpc: string;
}

/** Reads the variables of one rail. A variable that `missingForServe` complains about is empty text. */
export function railVariables(config: Config, rail: RailManifest): RailVariables {
  const { value } = createReader(config.env, () => "");
  return { payTo: value(rail.pay_to, payTo(rail)) ?? "", rpc: value(rail.rpc, WEB_URL) ?? "" };
}

/** The URL of a facilitator of the site; undefined while its variables are unset or malformed. */
export function facilitatorVariables(
  config: Pick<Config, "env">,
  facilitator: FacilitatorManifest,
): FacilitatorPlace | undefined {
  const { value, secret } = createReader(config.env, readText);
  const { url: usual, variable, headers } = facilitator;
  const url = (variable && value(variable, WEB_URL)) || usual;
  return url === undefined ? undefined : { url, headers: (headers && secret(headers, HEADERS)) || {} };
}

export interface FacilitatorPlace {
  readonly url: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
}

const readText = (path: string): string => readFileSync(path, "utf8");

/** The parts of a set that determine which variables are needed. A key with a fault is omitted. */
export interface SetNeeds {
  readonly site: Partial<SiteManifest>;
  readonly manifests: readonly Partial<Manifest>[];
  /** The capabilities that plugins take from `Host`, by their names. */
  readonly capabilities: ReadonlySet<string>;
}

/** The ids of the rails whose chains hold anchors. */
export const ANCHOR_RAILS = { base: "base", solana: "solana" } as const;

/**
 * The unset variables that `serve` needs, and the malformed variables of the set: one sentence each. Malformed
 * variables with fixed names are reported as faults of the configuration instead.
 */
export function missingForServe(config: Config, needs: SetNeeds): string[] {
  const { site, manifests } = needs;
  const { rails = [], upstreams = [] } = site;
  const reader = createReader(config.env, readText);
  const { faults, fault, value } = reader;
  const need = createNeed(reader);

  need("PUBLIC_BASE_URL", "the address that buyers use, like https://pay.example.com");
  if (config.publicBaseUrl && !isPrivateUrl(config.publicBaseUrl))
    fault(
      `PUBLIC_BASE_URL is "${config.publicBaseUrl}", but must begin with https://: on plain http, payments can be read on the way`,
    );
  needTreasury(needs, need);
  needRails(site, reader);
  for (const webhook of site.webhooks ?? []) {
    if (webhook.url === undefined && webhook.variable)
      need(webhook.variable, `where the webhook ${webhook.id} is sent`);
    need(webhook.secret, `the secret that signs the webhook ${webhook.id}`);
    for (const complaint of webhookVariables(config, webhook).faults) fault(complaint);
  }
  for (const upstream of upstreams) {
    const { id, title, url, variable } = upstream;
    const users = manifests.filter((manifest) => upstreamsOf(manifest).includes(id)).map((manifest) => manifest.id);
    const isRails = rails.some(({ rpc }) => rpc === variable);
    if (users.length === 0) continue;
    for (const key of keysOf(upstream)) value(key.variable, formatOf(key));
    if (variable === undefined || isRails) continue;
    if (url === undefined) need(variable, `the URL of ${title}, which is read by ${users.join(", ")}`);
    value(variable, WEB_URL);
  }
  return [...faults];
}

/** What the rails of a site need to be paid on, as `missingForServe` says it. */
export function missingForRails(
  config: Pick<Config, "env">,
  { rails, facilitators = [] }: Pick<SiteManifest, "rails" | "facilitators">,
): string[] {
  const site = { rails, facilitators };
  const reader = createReader(config.env, readText);
  needTreasury({ site, capabilities: new Set() }, createNeed(reader));
  needRails(site, reader);
  return [...reader.faults];
}

type Need = (name: string, what: string, names?: string) => void;

const createNeed =
  ({ isSet, fault }: Reader): Need =>
  (name, what, names = name) => {
    if (!isSet(name)) fault(`${names} is not set: ${what}`);
  };

function needTreasury(needs: Pick<SetNeeds, "site" | "capabilities">, need: Need): void {
  for (const [key, uses] of Object.entries(treasuryUses(needs)))
    if (uses.length > 0) need(key, `with it the treasury ${toList(uses)}`, `${key} (or ${key}_FILE)`);
}

function needRails(site: SetNeeds["site"], reader: Reader): void {
  const { rails = [], facilitators = [] } = site;
  const { isSet, value, secret } = reader;
  const need = createNeed(reader);
  const settlers = new Set(rails.flatMap((rail) => facilitatorsOf(rail, site)));
  for (const { id, url, variable, headers } of facilitators.filter((one) => settlers.has(one.id))) {
    if (url === undefined && variable) need(variable, `the URL of the facilitator ${id}`);
    if (variable) value(variable, WEB_URL);
    if (headers) need(headers, `the headers that the facilitator ${id} asks for`, `${headers} (or ${headers}_FILE)`);
    if (headers) secret(headers, HEADERS);
  }
  if (settlers.has(REMOTE) && !isSet("CDP_API_KEY_ID"))
    need("FACILITATOR_URL", "the x402 facilitator, or set CDP_API_KEY_ID and CDP_API_KEY_SECRET for Coinbase's");
  for (const rail of rails) {
    need(rail.pay_to, `the address that receives ${rail.title}`);
    value(rail.pay_to, payTo(rail));
    need(rail.rpc, `the RPC URL of ${rail.network}`);
    value(rail.rpc, WEB_URL);
  }
}

/** What each key of the treasury is used for. A key without a use is not needed. */
function treasuryUses({ site, capabilities }: Pick<SetNeeds, "site" | "capabilities">): Record<string, string[]> {
  const { rails = [], refunds } = site;
  const isOn = (id: string): boolean => rails.some((rail) => rail.id === id);
  const anchors = capabilities.has("anchor") && isOn(ANCHOR_RAILS.base);
  const settled = rails.filter((rail) => isInProcess(rail, site)).map(({ title }) => title);
  return {
    TREASURY_EVM_KEY: [
      ...(capabilities.has("treasury") ? ["signs results"] : []),
      ...(anchors ? ["anchors on Base"] : []),
      ...(settled.length > 0 ? [`settles ${toList(settled)}`] : []),
      ...(refunds?.rail === undefined ? [] : ["pays refunds"]),
    ],
    TREASURY_SOLANA_KEY: anchors && isOn(ANCHOR_RAILS.solana) ? ["anchors on Solana"] : [],
  };
}

const toList = (words: readonly string[]): string => words.join(", ").replace(/, ([^,]+)$/, " and $1");

/** 32 zero bytes in base58, the System Program: nobody has its key. */
const NOBODY = "1".repeat(32);

function payTo(rail: RailManifest): ValueFormat<string> {
  const { network, asset, symbol } = rail;
  const isToken = (text: string): boolean => isSameAddress(network, text, asset);
  return isEvm(rail)
    ? {
        right: `an EVM address (0x and 40 hex characters whose upper and lower case fit its checksum), not ${symbol}'s own and not the zero address`,
        parse: (text) => (isEvmAddress(text) && !isToken(text) ? text : undefined),
      }
    : {
        right: `a Solana address (32 bytes in base58), not ${symbol}'s own and not the System Program`,
        parse: (text) => (base58Bytes(text, 32) && text !== NOBODY && !isToken(text) ? text : undefined),
      };
}

/** Checks EIP-55. The zero address is nobody's. */
const isEvmAddress = (text: string): boolean =>
  /^0x[\da-fA-F]{40}$/.test(text) && !/^0x0+$/.test(text) && fitsChecksum(text);
