import { expect } from "chai";
import { audit } from "../../../runtime/core/books/audit.ts";
import type { BookLine } from "../../../runtime/core/books/books.ts";
import { createEvmClient } from "../../../runtime/drivers/evm/client.ts";
import { createEvmTransfers } from "../../../runtime/drivers/evm/transfers.ts";
import type { TestSandbox } from "../chains/chains.ts";

/**
 * Checks that the books of shops with one receiving address together match all transfers on Base.
 * @param from Unix milliseconds. @param sales the number of sales. @throws AssertionError unless the amounts are equal.
 */
export async function auditBooks(
  sandbox: TestSandbox,
  lines: readonly BookLine[],
  { from, sales }: { readonly from: number; readonly sales: number },
): Promise<void> {
  expect(lines.filter(({ kind }) => kind === "sale").length, "each sale is in the book once").to.equal(sales);
  expect(lines.filter(({ kind }) => kind !== "sale" && kind !== "refund")).to.deep.equal([]);
  const client = createEvmClient({ url: sandbox.base.url, chainId: 8453 });
  const { missing, altered, unbooked, others, booked, received } = await audit({
    chain: createEvmTransfers({ client, asset: sandbox.usdc.address }),
    receivers: [sandbox.env.BASE_PAYMENT_ADDRESS as string],
    span: { from, to: Date.now() + 1000 },
    isDollar: true,
    lines,
    find: (transaction) => lines.filter((line) => line.transaction === transaction),
    again: async () => {},
    clock: { now: Date.now },
  });
  expect({ missing, altered, unbooked, others }).to.deep.equal({ missing: [], altered: [], unbooked: [], others: [] });
  expect(received).to.equal(booked);
  expect(booked > 0n).to.equal(true);
}
