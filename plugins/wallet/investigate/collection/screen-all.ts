import PQueue from "p-queue";
import type { Screening, ScreenResponse } from "../../screen/screening.ts";
import type { Screened } from "../evidence.ts";
import { BASE_CHAIN_ID } from "../subject.ts";

const AT_ONCE = 4;

/** Screens addresses, four at a time. @throws only the signal's reason. */
export async function screenAll(
  addresses: readonly string[],
  screening: Screening,
  signal: AbortSignal,
): Promise<Readonly<Record<string, Screened>>> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const screen = async (address: string) =>
    [address, toScreened(await screening.screen(address, signal, BASE_CHAIN_ID))] as const;
  return Object.fromEntries(await queue.addAll(addresses.map((address) => () => screen(address))));
}

const toScreened = (found: ScreenResponse): Screened => {
  const { risk_level, risk_score, sanctions_match, labels, signals, partial, corpus_version } = found;
  return { risk_level, risk_score, sanctions_match, labels, signals, partial, corpus_version };
};
