import { isDeep, isObject } from "../json.ts";
import { isEvmSignature, isHex, LONGEST_SIGNATURE, toUint256 } from "./eip3009.ts";
import { parsePayment, type Refusal } from "./read-payment.ts";

/** A rule about a field of a payment: its path, what it must be, and the test. */
type Rule = readonly [path: string, must: string, holds: (value: unknown) => boolean];

const isText = (value: unknown): boolean => typeof value === "string";
const isHexOf = (bytes: number) => (value: unknown) => isHex(value, bytes);
const isUint256 = (value: unknown): boolean => toUint256(value) !== undefined;

const HEAD: readonly Rule[] = [
  ["payload", "an object", isObject],
  ["x402Version", "2, or the deprecated 1", (value) => value === 1 || value === 2],
];

const ACCEPTED: readonly Rule[] = [
  ["accepted", "the offer that is paid, an object", isObject],
  ...["scheme", "network", "asset", "amount", "payTo"].map((name): Rule => [`accepted.${name}`, "a text", isText]),
  ["accepted.maxTimeoutSeconds", "a number", (value) => typeof value === "number"],
  ["accepted.extra", "an object", (value) => value === undefined || isObject(value)],
];

const EVM: readonly Rule[] = [
  ["payload.signature", `hex of at most ${LONGEST_SIGNATURE} characters`, isEvmSignature],
  ["payload.authorization", "an EIP-3009 authorization, an object", isObject],
  ...["from", "to"].map((name): Rule => [`payload.authorization.${name}`, "20 bytes of hex", isHexOf(20)]),
  ["payload.authorization.nonce", "32 bytes of hex", isHexOf(32)],
  ...["value", "validAfter", "validBefore"].map(
    (name): Rule => [`payload.authorization.${name}`, "an unsigned integer in decimal text", isUint256],
  ),
];

const LEGACY: readonly Rule[] = ["scheme", "network"].map((name) => [name, "a text", isText]);

const SOLANA: readonly Rule[] = [
  ["payload.transaction", "a whole Solana transaction of at most 1232 bytes in base64", () => false],
];

/**
 * Why `readPayment` has refused a payment: the first invalid field. Undefined when the refusal says everything.
 */
export function explainPayment(
  refusal: Refusal,
  raw: string | object,
  networks: ReadonlyMap<string, string>,
): string | undefined {
  if (refusal === "invalid_identifier")
    return 'extensions.payment-identifier.info.id is not 16 to 128 letters, digits, "-" and "_"';
  const value = parsePayment(raw);
  if (typeof raw === "string" && REPEATED.test(raw)) return "its header was sent more than once; send it once";
  if (!isObject(value)) return "it is not base64 of a JSON object";
  const fault = firstFault(value, [...HEAD, ...(value.x402Version === 2 ? ACCEPTED : LEGACY)]);
  if (fault !== undefined) return fault;
  const isCurrent = value.x402Version === 2;
  const place = isCurrent ? "accepted." : "";
  const network = at(value, `${place}network`);
  const caip = (isCurrent ? undefined : networks.get(String(network))) ?? String(network);
  if (refusal === "unsupported_network") {
    const taken = new Set(isCurrent ? networks.values() : networks.keys());
    return `${place}network is ${show(network)}, must be one of ${[...taken].join(", ")}`;
  }
  const scheme = at(value, `${place}scheme`);
  if (scheme !== "exact") return `${place}scheme is ${show(scheme)}, must be exact`;
  return firstFault(value, caip.startsWith("solana:") ? SOLANA : EVM);
}

/** A client's value, short enough for a header. */
export function show(value: unknown): string {
  if (isDeep(value)) return "JSON of too many levels"; // More of them than `JSON.stringify` can write.
  const text = typeof value === "string" && /^[\w:./-]+$/.test(value) ? value : (JSON.stringify(value) ?? "missing");
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const LONGEST = 64;
/** A header that was sent more than once, as Node joins it. */
const REPEATED = /^[\w+/=-]+(?:, [\w+/=-]+)+$/;

function firstFault(value: Readonly<Record<string, unknown>>, rules: readonly Rule[]): string | undefined {
  const rule = rules.find(([path, , holds]) => !holds(at(value, path)));
  if (!rule) return undefined;
  const [path, must] = rule;
  return at(value, path) === undefined ? `${path} is missing; it must be ${must}` : `${path} is not ${must}`;
}

const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce((inner: unknown, name) => (isObject(inner) ? inner[name] : undefined), value);
