import { setTimeout as sleep } from "node:timers/promises";
import type { PaymentRequired } from "@x402/core/types";
import type { Manifest, RailManifest } from "../../core/set/manifest.ts";
import { openPayer } from "../call/buyer-payer.ts";
import { toOffers } from "../call/offers.ts";
import type { Purse } from "./purses.ts";

/** What a simulated buyer does with a challenge. */
export type Habit = "pays" | "looks" | "leaves" | "replays" | "has no money";

/** In which order habits are given to buyers: of ten, six pay. */
export const HABITS: readonly Habit[] = [
  ...(["pays", "replays", "pays", "leaves", "pays", "has no money", "pays", "looks", "pays", "pays"] as const),
];

export interface Buyer {
  readonly habit: Habit;
  readonly purse: Purse;
}

/** A service that can be bought, and an input for it. */
export interface Ware {
  readonly manifest: Manifest;
  readonly path: string;
  readonly input: unknown;
}

export interface BuyerDeps {
  /** The seller's base URL, without a trailing slash. */
  readonly url: string;
  readonly wares: readonly Ware[];
  readonly rails: readonly RailManifest[];
  /** Told of everything that comes of a call, in a few words. */
  readonly note: (what: string) => void;
  readonly signal: AbortSignal;
  /** Between two calls of one buyer, on average. */
  readonly pauseMs: number;
}

const PATIENCE_MS = 60_000;
/** Somebody who leaves does so within this time after having paid. */
const LEAVES_MS = 60;
const RETRY_MS = 1000;

/** Buys again and again, as its habit is, until the signal ends it. A call in flight is finished. */
export async function trade({ habit, purse }: Buyer, deps: BuyerDeps): Promise<void> {
  const { url, wares, rails, note, signal, pauseMs } = deps;
  for (;;) {
    await sleep(Math.random() * 2 * pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    await visit().catch((error: unknown) => note(`failed: ${(error as Error).name}`));
  }

  async function visit(): Promise<void> {
    const ware = pick(wares);
    const unpaid = await send(ware);
    if (unpaid.status !== 402) return note(`unpaid: ${unpaid.status}`);
    const challenge = (await unpaid.json()) as PaymentRequired;
    if (habit === "looks") return note("looked");
    const { offers } = toOffers(challenge, rails);
    if (offers.length === 0) return note("no offer");
    const wallet = { origin: "sandbox" as const, key: () => purse.key, rpc: () => undefined };
    const payment = await (await openPayer(wallet, pick(offers))).sign(challenge);
    if (habit === "leaves") return leave(ware, payment);
    const { status } = await insist(ware, payment);
    note(status === 200 ? "paid and served" : `refused: ${status}`);
    for (let again = 0; habit === "replays" && status === 200 && again < 2; again += 1)
      note(`sent again: ${(await insist(ware, payment)).status}`);
  }

  async function leave(ware: Ware, payment: string): Promise<void> {
    const gone = AbortSignal.timeout(Math.ceil(Math.random() * LEAVES_MS));
    const response = await send(ware, payment, gone).catch(() => undefined);
    note(response ? `left too late: ${response.status}` : "left");
  }

  /** Repeats the same payment, as the answers tell. */
  async function insist(ware: Ware, payment: string): Promise<Response> {
    for (const givenUp = performance.now() + PATIENCE_MS; ; ) {
      const response = await send(ware, payment);
      await response.arrayBuffer();
      if (![409, 429, 503].includes(response.status) || performance.now() > givenUp) return response;
      await sleep(RETRY_MS);
    }
  }

  function send({ path, input }: Ware, payment?: string, gone?: AbortSignal): Promise<Response> {
    return fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...(payment !== undefined && { "payment-signature": payment }) },
      body: JSON.stringify(input),
      signal: AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), ...(gone ? [gone] : [])]),
    });
  }
}

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;
