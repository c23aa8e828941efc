import { setTimeout as sleep } from "node:timers/promises";
import { DOORS, type Door } from "../../core/books/events.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { openPayer } from "../call/buyer-payer.ts";
import { toOffers } from "../call/offers.ts";
import { type Answer, NEVER, openDoor, type SoldService, type Visit } from "./doors.ts";
import type { SimulatedWallet } from "./wallets.ts";

/** How a simulated buyer reacts to a challenge. */
export type Habit = "pays" | "looks" | "leaves" | "replays" | "has no money";

/** The order in which habits are given to buyers. Six of ten pay. */
export const HABITS: readonly Habit[] = [
  ...(["pays", "replays", "pays", "leaves", "pays", "has no money", "pays", "looks", "pays", "pays"] as const),
];

/** The door of a buyer: all in turn, so that each habit uses each door. @param at the buyer's index */
export const doorOf = (at: number): Door => DOORS[(at + Math.floor(at / HABITS.length)) % DOORS.length] as Door;

export interface Buyer {
  readonly habit: Habit;
  readonly door: Door;
  readonly wallet: SimulatedWallet;
}

/** A buyer's own count of its purchases. */
export interface OwnPurchases {
  /** Payments that were answered with the purchased result, each counted once. */
  served: number;
  /** Payments without an answer, because the buyer left or none came. Each of them may have been charged. */
  open: number;
}

export interface BuyerDeps {
  /** The seller's base URL, without a trailing slash. */
  readonly url: string;
  readonly services: readonly SoldService[];
  readonly rails: readonly RailManifest[];
  /** Called with the outcome of each call, in a few words. */
  readonly note: (what: string) => void;
  readonly signal: AbortSignal;
  /** The average pause between two calls of one buyer. */
  readonly pauseMs: number;
}

const PATIENCE_MS = 60_000;
/** A buyer who leaves does so within this time after paying. */
const LEAVES_MS = 60;
const RETRY_MS = 1000;

/** Buys repeatedly, according to its habit, until the signal is aborted. A call in flight is finished. */
export async function trade({ habit, door, wallet }: Buyer, deps: BuyerDeps): Promise<OwnPurchases> {
  const { url, services, rails, note, signal, pauseMs } = deps;
  const bought: OwnPurchases = { served: 0, open: 0 };
  const shop = openDoor(door, url);
  for (;;) {
    await sleep(Math.random() * 2 * pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    await visit().catch((error: unknown) => note(`failed: ${(error as Error).name}`));
  }
  await shop.close();
  return bought;

  async function visit(): Promise<void> {
    const visited = await shop.visit(pick(services));
    if (!visited.challenge) return note(`unpaid: ${visited.what}`);
    if (habit === "looks") return note("looked");
    const { offers } = toOffers(visited.challenge, rails);
    if (offers.length === 0) return note("no offer");
    const keys = { origin: "sandbox" as const, key: () => wallet.key, rpc: () => undefined };
    const payment = await (await openPayer(keys, pick(offers))).sign(visited.challenge);
    if (habit === "leaves") return leave(visited, payment);
    const { outcome, what } = await insist(visited, payment);
    note(outcome === "served" ? "paid and served" : `refused: ${what}`);
    if (outcome === "served") bought.served += 1;
    if (outcome === "later") bought.open += 1;
    for (let again = 0; habit === "replays" && outcome === "served" && again < 2; again += 1)
      note(`sent again: ${(await insist(visited, payment)).outcome}`);
  }

  async function leave(visited: Visit, payment: string): Promise<void> {
    const gone = AbortSignal.timeout(Math.ceil(Math.random() * LEAVES_MS));
    const answer = await visited.pay(payment, gone).catch(() => undefined);
    note(answer ? `left too late: ${answer.outcome}` : "left");
    if (answer?.outcome === "served") bought.served += 1;
    else if (answer?.outcome !== "refused") bought.open += 1;
  }

  /** Repeats the same payment as long as the answers say so. Without a final answer, it may have been charged. */
  async function insist(visited: Visit, payment: string): Promise<Answer> {
    for (const givenUp = performance.now() + PATIENCE_MS; ; ) {
      const answer = await visited
        .pay(payment, NEVER)
        .catch((error: unknown): Answer => ({ outcome: "later", what: (error as Error).name }));
      if (answer.outcome !== "later" || performance.now() > givenUp) return answer;
      await sleep(RETRY_MS);
    }
  }
}

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;
