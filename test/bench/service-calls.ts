import { keccak_256 } from "@noble/hashes/sha3";

/** A service that reads sources, and calls of it that no cache has an answer to. */
export interface SourcedCall {
  readonly title: string;
  readonly path: string;
  readonly input: (at: number) => object;
  /** How many calls are timed. */
  readonly calls: number;
}

/** How many different calldata the source of signatures knows. */
const SIGNATURES = 200;
const CALLS = 60;
const VITALIK = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";

/** Made-up functions by their selectors. */
export const signatures = (): ReadonlyMap<string, string> =>
  new Map(Array.from({ length: SIGNATURES }, (_, at) => [toSelector(at), toSignature(at)]));

const toSignature = (at: number): string => `bench${at}(uint256)`;
const toSelector = (at: number): string =>
  `0x${Buffer.from(keccak_256(toSignature(at)).subarray(0, 4)).toString("hex")}`;
const toAddress = (at: number): string => `0x${(at + 1).toString(16).padStart(40, "0")}`;

const target =
  "A startup that puts umbrellas on the blockchain, so that you always know who owns the one you forgot on the train.";
const SENTENCE = "The council of Harwick voted 7 to 4 on Tuesday to close Mill Bridge to cars from 1 March 2027. ";

/** Each is asked for one after the other, with another input where the service remembers answers. */
export const UNCACHED: readonly SourcedCall[] = [
  { title: "price_token", path: "/v1/price/token", input: (at) => ({ symbol: `bench${at}` }), calls: CALLS },
  { title: "screen", path: "/v1/screen", input: (at) => ({ wallet: toAddress(at) }), calls: CALLS },
  { title: "intel_wallet", path: "/v1/intel/wallet", input: (at) => ({ wallet: toAddress(1000 + at) }), calls: CALLS },
  { title: "resolve_name, .eth", path: "/v1/resolve/name", input: () => ({ name: "vitalik.eth" }), calls: CALLS },
  { title: "resolve_name, .sol", path: "/v1/resolve/name", input: () => ({ name: "bonfida.sol" }), calls: CALLS },
  {
    title: "decode_tx, Ethereum",
    path: "/v1/decode/tx",
    input: () => ({
      chain: "ethereum",
      tx_hash: "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
    }),
    calls: CALLS,
  },
  {
    title: "decode_calldata",
    path: "/v1/decode/calldata",
    input: (at) => ({ chain: "ethereum", calldata_hex: toSelector(at) + "0".repeat(64) }),
    calls: CALLS,
  },
  { title: "roast", path: "/v1/roast", input: () => ({ target }), calls: CALLS },
  {
    title: "tldr, a text of 200 KB",
    path: "/v1/tldr",
    input: (at) => ({ text: `${at}. ${SENTENCE.repeat(Math.floor(199_000 / SENTENCE.length))}` }),
    calls: 10,
  },
];

/** What is asked for again and again, beside a service that reads nothing, for the same price. */
export const CACHED = {
  "parse_datetime, which reads nothing": { path: "/v1/parse/datetime", input: { input: "2027-01-15T08:00:00Z" } },
  price_token: { path: "/v1/price/token", input: { symbol: "ETH" } },
  screen: { path: "/v1/screen", input: { wallet: VITALIK } },
  intel_wallet: { path: "/v1/intel/wallet", input: { wallet: VITALIK } },
} as const satisfies Readonly<Record<string, { readonly path: string; readonly input: object }>>;
