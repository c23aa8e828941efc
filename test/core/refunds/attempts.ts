import type { RefundRail } from "../../../runtime/core/refunds/rail.ts";
import { createRefundRecords, type RefundCase, type RefundRecords } from "../../../runtime/core/refunds/records.ts";
import { createRefunds, type Refunds, type RefundsDeps } from "../../../runtime/core/refunds/refunds.ts";
import type { Eip3009 } from "../../../runtime/core/x402/eip3009.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

export const PAYER = "0x9999999999999999999999999999999999999999";
export const MINUTE = 60_000;
export const SIGNED = { signature: "0x5160", authorization: {} } as unknown as Eip3009; // Opaque to all but the rail.
const TOKEN = "0xAAaaAAaaAAaaAAaaAAaaAAaaAAaaAAaaAAaaAAaa";

/** Refunds on a rail that does what a test says, in time that stands still. */
export interface AttemptStage {
  readonly time: FrozenTime;
  readonly store: ReturnType<typeof createMemoryStore>;
  readonly records: RefundRecords;
  readonly clock: { now(): number };
  readonly refunds: Refunds;
  /** What the rail was asked for, and who was screened. */
  did: string[];
  /** The transaction that the rail was told to look at first, each time that it was asked to find the transfer. */
  readonly lookedAt: (string | undefined)[];
  readonly logged: readonly string[];
  /** What the rail finds on its chain. */
  found: Awaited<ReturnType<RefundRail["find"]>>;
  screened: "clear" | "sanctioned" | Error;
  check: () => Promise<void>;
  send: () => Promise<void>;
  /** Opens the refunds anew, as another process. */
  open(more?: Partial<RefundsDeps>): void;
  /** Opens the refund of the case, which is attempted once. */
  begin(): Promise<void>;
  /** From now on the transfer is found on the chain. */
  settle(transaction?: string): void;
  close(): Promise<void>;
}

export const toCase = (payment: Partial<RefundCase["payment"]> = {}): RefundCase => ({
  id: "one",
  service: "search",
  payment: {
    network: "eip155:8453",
    asset: TOKEN.toLowerCase(),
    amount: "1000",
    payer: PAYER,
    transaction: "0x1",
    ...payment,
  },
});

export function openAttempts(): AttemptStage {
  const time = freezeTime();
  const clock = { now: () => Date.now() };
  const store = createMemoryStore(clock.now);
  const logged: string[] = [];
  const log = {
    info: (event: string) => void logged.push(`info ${event}`),
    warn: (event: string) => void logged.push(`warn ${event}`),
    error: (event: string) => void logged.push(`error ${event}`),
  };
  const rail: RefundRail = {
    network: "eip155:8453",
    asset: TOKEN,
    async check({ to, amount }) {
      stage.did.push(`check ${to} ${amount}`);
      await stage.check();
    },
    holds: async () => true,
    async sign(id, { to, amount }) {
      stage.did.push(`sign ${id} ${to} ${amount}`);
      return SIGNED;
    },
    async find(_signed, _signal, held) {
      stage.did.push("find");
      stage.lookedAt.push(held);
      return stage.found;
    },
    async send() {
      stage.did.push("send");
      await stage.send();
    },
  };
  const screenRecipient = async (): Promise<"clear" | "sanctioned"> => {
    stage.did.push("screen");
    if (stage.screened instanceof Error) throw stage.screened;
    return stage.screened;
  };
  const create = (more: Partial<RefundsDeps> = {}): Refunds =>
    createRefunds({ store, clock, log, rail, screenRecipient, ...more });
  let refunds = create();
  const stage: AttemptStage = {
    time,
    store,
    clock,
    logged,
    records: createRefundRecords(store),
    did: [],
    lookedAt: [],
    found: { state: "open" },
    screened: "clear",
    check: async () => {},
    send: async () => {},
    get refunds() {
      return refunds;
    },
    open(more) {
      refunds = create(more);
    },
    async begin() {
      await refunds.open(toCase());
      await time.pass(10);
    },
    settle(transaction = "0xfe") {
      stage.found = { state: "settled", transaction };
    },
    async close() {
      await refunds.close();
      time.thaw();
    },
  };
  return stage;
}
