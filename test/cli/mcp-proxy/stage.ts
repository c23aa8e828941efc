import type { BuyerWallet } from "../../../runtime/cli/call/buyer-wallet.ts";
import { loadRails } from "../../../runtime/cli/call/rails-file.ts";
import { createLostPayments } from "../../../runtime/cli/mcp-proxy/lost.ts";
import { createPurchases, type ToolRequest } from "../../../runtime/cli/mcp-proxy/purchase.ts";
import type { ToolResult } from "../../../runtime/cli/mcp-proxy/results.ts";
import type { RailManifest } from "../../../runtime/core/set/manifest.ts";
import { ROOT } from "../../core/set/served-directory.ts";
import { createFolder } from "../../support/folder.ts";

export const DICE = { name: "roll", arguments: { low: 1, high: 6 } };
export const ROLLED = { content: [{ type: "text", text: "4" }], structuredContent: { result: [4] } };
const SELLER = "https://seller.example/mcp";
const WALLET: BuyerWallet = { origin: "environment", key: () => `0x${"11".repeat(32)}`, rpc: () => undefined };

/** A seller of dice and its buyers, new for each test of a suite. */
export interface PurchaseStage {
  /** Unix milliseconds. */
  now: number;
  /** How many payments count in the budget. */
  spent: number;
  /** The payments that the seller got, in turn. */
  paid: unknown[];
  maxTimeoutSeconds: number;
  /** How long the seller takes to name the price. */
  unpaidMs: number;
  /** What the seller waits for before it names the price, in turn. */
  holds: Promise<void>[];
  /** The rail of the offers. */
  railId: string;
  /** Whether the offers name the token's domain. */
  isSignable: boolean;
  /** The seller's answers to calls with a payment, in turn; an error means that no answer comes. */
  answers: (ToolResult | Error | Promise<never>)[];
  /** The folder of the payments. */
  spending: string;
  /** The answer to a call without a payment. */
  challenge(): ToolResult;
  /** A proxy that rolls the dice. */
  open(patienceMs: number): (signal?: AbortSignal) => Promise<ToolResult>;
}

export function stagePurchases(): PurchaseStage {
  let rails: readonly RailManifest[];
  const stage = { challenge, open } as PurchaseStage; // All else is set before each test.
  before(async () => {
    rails = await loadRails(ROOT);
  });
  beforeEach(() => {
    const offer = { maxTimeoutSeconds: 300, unpaidMs: 0, railId: "base", isSignable: true };
    Object.assign(stage, offer, {
      now: Date.now(),
      spent: 0,
      paid: [],
      answers: [],
      holds: [],
      spending: createFolder(),
    });
  });
  return stage;

  function challenge(): ToolResult {
    const { network, asset, domain } = rails.find(({ id }) => id === stage.railId) as RailManifest;
    const accepted = { scheme: "exact", network, asset, amount: "1000", payTo: `0x${"22".repeat(20)}` };
    const { maxTimeoutSeconds, isSignable } = stage;
    const accepts = [{ ...accepted, maxTimeoutSeconds, extra: isSignable ? domain : {} }];
    return {
      isError: true,
      content: [],
      structuredContent: { x402Version: 2, error: "?", resource: { url: SELLER }, accepts },
    };
  }

  async function ask({ _meta }: ToolRequest): Promise<ToolResult> {
    const payment = _meta?.["x402/payment"];
    if (payment === undefined) {
      stage.now += stage.unpaidMs;
      await stage.holds.shift();
      return challenge();
    }
    stage.paid.push(payment);
    const answer = stage.answers.shift() ?? ROLLED;
    if (answer instanceof Error) throw answer;
    return answer;
  }

  function open(patienceMs: number): (signal?: AbortSignal) => Promise<ToolResult> {
    const spend = async (): Promise<() => Promise<void>> => {
      stage.spent += 1;
      return async () => {
        stage.spent -= 1;
      };
    };
    const now = (): number => stage.now;
    const call = createPurchases({
      ask,
      lost: createLostPayments(stage.spending, SELLER, now),
      schemaOf: async () => undefined,
      budget: { spend },
      rails,
      openWallet: async () => WALLET,
      say: () => {},
      now,
      patienceMs,
    });
    return (signal = new AbortController().signal) => call(DICE, signal);
  }
}
