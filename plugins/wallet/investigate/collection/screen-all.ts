import PQueue from "p-queue";
import type { Call } from "#plugin";
import type { ScreenResponse } from "../../screen/response.ts";
import type { Screening } from "../../screen/screening.ts";
import type { Screened } from "../evidence.ts";
import { BASE_CHAIN_ID } from "../subject.ts";

const AT_ONCE = 8;
/** How many addresses one step screens. */
const PER_STEP = 20;

export interface ScreenAllTerms extends Pick<Call, "step" | "signal"> {
  /** Unix milliseconds. */
  readonly patientUntil: number;
}

/** Screens addresses, eight at a time. @throws only the signal's reason and failures of steps. */
export async function screenAll(
  addresses: readonly string[],
  screening: Pick<Screening, "screen">,
  { step, signal, patientUntil }: ScreenAllTerms,
): Promise<Readonly<Record<string, Screened>>> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const screen = async (address: string) => {
    const found = await screening.screen(address, { signal, patientUntil, chainId: BASE_CHAIN_ID });
    return [address, toScreened(found)] as const;
  };
  const parts: (readonly (readonly [string, Screened])[])[] = [];
  for (let start = 0; start < addresses.length; start += PER_STEP) {
    const some = addresses.slice(start, start + PER_STEP);
    const name = `screen counterparties ${parts.length + 1}`;
    parts.push(await step(name, () => queue.addAll(some.map((address) => () => screen(address)))));
  }
  return Object.fromEntries(parts.flat());
}

const toScreened = (found: ScreenResponse): Screened => {
  const { risk_level, risk_score, sanctions_match, labels, signals, partial, corpus_version } = found;
  return { risk_level, risk_score, sanctions_match, labels, signals, partial, corpus_version };
};
