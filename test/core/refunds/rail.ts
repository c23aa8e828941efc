import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Log } from "../../../runtime/api/capabilities.ts";
import { loadRails } from "../../../runtime/cli/call/rails-file.ts";
import type { RefundRail } from "../../../runtime/core/refunds/rail.ts";
import type { RefundCase } from "../../../runtime/core/refunds/records.ts";
import type { RailManifest } from "../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { Store } from "../../../runtime/core/store.ts";
import { createEvmClient } from "../../../runtime/drivers/evm/client.ts";
import { createEvmRefundRail } from "../../../runtime/drivers/evm/refund-rail.ts";
import { createEvmSender } from "../../../runtime/drivers/evm/sender/sender.ts";

/** The rail `base` of the project's own site. */
export const base = (await loadRails(join(import.meta.dirname, "../../.."))).find(
  ({ id }) => id === "base",
) as RailManifest;

/** What every job here has cost, in atomic units. */
export const PRICE = 1_770_000n;

/** Where one process reaches the chain, and under which key. */
export interface RailOptions {
  readonly url: string;
  readonly key: Hex;
  readonly store: Store;
  readonly log?: Log;
}

/** The rail as one process of `payphone serve` has it, but in a hurry. */
export function openRefundRail({ url, key, store, log = silentLog }: RailOptions): RefundRail & { close(): void } {
  const client = createEvmClient({ url, chainId: 8453, retries: 0 });
  const account = privateKeyToAccount(key);
  const treasury = { evmAccount: async () => account, evmAddress: async () => account.address };
  const times = { pollMs: 40, rebroadcastMs: 300, stuckMs: 600_000 };
  const sender = createEvmSender({ client, treasury, store, clock: Date, log, feeCapWei: 10n ** 16n, ...times });
  return { ...createEvmRefundRail({ manifest: base, client, sender, treasury }), close: sender.close };
}

/** A failed job that somebody new has paid for in Base USDC, with these differences. */
export function failedJob(payment: Partial<RefundCase["payment"]> = {}): RefundCase {
  const { network, asset } = base;
  const payer: Hex = `0x${randomBytes(20).toString("hex")}`;
  const paid = { network, asset, amount: String(PRICE), payer, transaction: `0x${"1".repeat(64)}` };
  return { id: randomUUID(), service: "investigate", payment: { ...paid, ...payment } };
}
