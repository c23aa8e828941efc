import { type Plugins, Problem } from "#plugin";
import { type ReadBudget, toBudget } from "../abi/decode.ts";
import type { Signatures } from "../directories/directories.ts";
import { type Interpreted, interpret } from "../interpret.ts";
import type { InnerCall } from "./inner-call.ts";
import { summarize } from "./summary.ts";
import { KNOWN_SIGNATURES, WRAPPERS } from "./wrappers.ts";

/** A call within another call (schemas/DecodedCall.json). */
export type DecodedCall = Omit<Listed, "calls"> & { readonly calls: DecodedCall[] };
type Listed = NonNullable<Plugins["calldata"]["decode"]["output"]["calls"]>[number];

export interface CallsInside {
  readonly calls: DecodedCall[];
  /** How many are not shown, those inside of these not counted. */
  readonly omitted: number;
}

/** Finds the signatures of a selector. */
export type LookUp = (selector: string) => Promise<Signatures>;

const MOST_DEPTH = 3;
const MOST_CALLS = 100;
/** How many further selectors of one request are looked up in directories. */
const MOST_LOOKUPS = 8;

/**
 * Decodes the calls in a call's arguments, three levels deep, and counts those that are left out. Calls whose selectors
 * the directories do not know, or that fail to be looked up, stay undecoded.
 */
export function createDecodeCalls(lookUp: LookUp): (read: Interpreted, target: string | null) => Promise<CallsInside> {
  let shown = 0;
  let omitted = 0;
  const listings = new Map<string, Promise<Signatures>>();

  async function signaturesOf(selector: string): Promise<Signatures> {
    const known = KNOWN_SIGNATURES.get(selector);
    if (known !== undefined) return toTrusted([known]);
    const asked = listings.get(selector);
    if (asked || listings.size >= MOST_LOOKUPS) return asked ?? NONE;
    const listing = lookUp(selector).catch(toNone);
    listings.set(selector, listing);
    return listing;
  }

  async function decodeInner(inner: InnerCall, depth: number, budget: ReadBudget): Promise<DecodedCall> {
    const { target, wei, data, command, isDelegate = false, isRefused = false } = inner;
    const bytes = Buffer.from(data.slice(2), "hex");
    const selector = selectorOf(inner);
    const { signatures, verified } = command
      ? toTrusted(command)
      : selector === null
        ? NONE
        : await signaturesOf(selector);
    const read = await interpret(command === undefined ? bytes.subarray(4) : bytes, signatures, { verified, budget });
    const { candidates: _, ...call } = read.shown;
    return {
      target: await toChecksum(target),
      value_wei: wei === null ? null : String(wei),
      delegatecall: isDelegate,
      function_selector: selector,
      ...call,
      summary: summarize(call.function_signature, read.values, inner),
      calls: await decodeCalls({ ...read, isRefused }, target, depth + 1, budget),
    };
  }

  /** All inner calls share one budget, so that hostile offsets do not multiply from level to level. */
  async function decodeCalls(
    { shown: call, values, data, isCut, isRefused = false }: Interpreted & Pick<InnerCall, "isRefused">,
    target: string | null,
    depth = 1,
    budget = toBudget(data),
  ): Promise<DecodedCall[]> {
    const listed = isCut ? null : await WRAPPERS[call.function_signature ?? ""]?.(values, target);
    if (listed === null) omitted++; // Nobody knows how many.
    const inside = isRefused ? (listed ?? []).map((inner) => ({ ...inner, isRefused })) : (listed ?? []);
    const found: DecodedCall[] = [];
    const next = depth > MOST_DEPTH ? [] : inside.slice(0, MOST_CALLS - shown);
    // All at once: a directory that is silent is waited for, and one after another that would outlast the request.
    await Promise.all(next.map(selectorOf).map((selector) => selector && signaturesOf(selector)));
    for (const inner of next) {
      if (shown === MOST_CALLS) break;
      shown++;
      found.push(await decodeInner(inner, depth, budget));
    }
    omitted += inside.length - found.length;
    return found;
  }

  return async (read, target) => ({ calls: await decodeCalls(read, target), omitted });
}

/** Null for a command, and for data that is too short for one. */
const selectorOf = ({ data, command }: InnerCall): string | null =>
  command === undefined && data.length >= "0x12345678".length ? data.slice(0, 10).toLowerCase() : null;

const toTrusted = (signatures: readonly string[]): Signatures => ({ signatures, verified: signatures.length });
const NONE = toTrusted([]);

/** When a directory fails, an inner call has no names, but the request succeeds. Rethrows the abort of the call. */
function toNone(error: unknown): Signatures {
  if (error instanceof Problem) return NONE;
  throw error;
}

async function toChecksum(address: string | null): Promise<string | null> {
  const { getAddress } = await import("viem/utils");
  return address === null ? null : getAddress(address);
}
