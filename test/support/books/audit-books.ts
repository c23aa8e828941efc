import { expect } from "chai";
import { audit } from "../../../runtime/core/books/audit.ts";
import type { BookLine } from "../../../runtime/core/books/books.ts";
import { createEvmClient } from "../../../runtime/drivers/evm/client.ts";
import { createEvmTransfers } from "../../../runtime/drivers/evm/transfers.ts";
import type { TestSandbox } from "../chains/chains.ts";

/** Checks that the books of several shops with one receiving address together match the chain. */
export interface AuditedBooks {
  /** Adds the book of a shop with one sale. @param label names the book when it is wrong */
  take(lines: readonly BookLine[], label: string): void;
  /**
   * Compares the books with all transfers on Base since this object was made. @throws AssertionError unless the amounts
   * are equal.
   */
  verify(): Promise<void>;
}

export function collectBooks(sandbox: TestSandbox): AuditedBooks {
  const from = Date.now();
  const lines: BookLine[] = [];
  return {
    take(book, label) {
      expect(book.filter(({ kind }) => kind === "sale").length, `${label}: one sale`).to.equal(1);
      expect(
        book.filter(({ kind }) => kind !== "sale" && kind !== "refund"),
        label,
      ).to.deep.equal([]);
      lines.push(...book);
    },
    async verify() {
      const client = createEvmClient({ url: sandbox.base.url, chainId: 8453 });
      const { missing, unbooked, others, booked, received } = await audit({
        chain: createEvmTransfers({ client, asset: sandbox.usdc.address }),
        receivers: [sandbox.env.BASE_PAYMENT_ADDRESS as string],
        span: { from, to: Date.now() + 1000 },
        lines,
        find: (transaction) => lines.filter((line) => line.transaction === transaction),
        again: async () => {},
        clock: { now: Date.now },
      });
      expect({ missing, unbooked, others }).to.deep.equal({ missing: [], unbooked: [], others: [] });
      expect(received).to.equal(booked);
      expect(booked > 0n).to.equal(true);
    },
  };
}
