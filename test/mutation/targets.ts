/** A part of the sources, and the tests that hold it, quick ones first. Patterns are globs below the root. */
export interface Target {
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

const PAYMENTS = [
  "test/core/payments/charge.test.ts",
  "test/core/payments/challenge.test.ts",
  "test/core/payments/offers.test.ts",
  "test/core/payments/retry.test.ts",
  "test/core/payments/unknown-outcome.test.ts",
  "test/core/payments/rail-monitor.test.ts",
  "test/core/payments/outage.test.ts",
  "test/attacks/{background,terms,lies,settlement,replay,unpaid-work}.test.ts",
  "test/surfaces/mcp/payment.test.ts",
  "test/surfaces/a2a/task-payments.test.ts",
  "test/attacks/{store,disconnect,facilitator}.test.ts",
];
const JOBS = [
  "test/core/jobs/{work,paid-job,status,status-schema}.test.ts",
  "test/core/sweeper.test.ts",
  "test/server/{polls,reports,reports-served}.test.ts",
];
const REFUNDS = ["test/core/refunds/{refunds,chain,crash}.test.ts", "test/cli/refunds/refunds.test.ts"];

/** The money path: whose mutants must die. */
export const TARGETS: readonly Target[] = [
  {
    sources: ["runtime/core/x402/*.ts"],
    tests: ["test/core/x402/*.test.ts", "test/attacks/solana.test.ts", ...PAYMENTS],
  },
  {
    sources: ["runtime/core/{invoke,perform,payments,leases,once,deadline,digest}.ts", "runtime/core/payments/*.ts"],
    tests: [...PAYMENTS, ...JOBS],
  },
  { sources: ["runtime/core/jobs/*.ts"], tests: [...JOBS, "test/core/payments/charge.test.ts"] },
  { sources: ["runtime/core/refunds/*.ts", "runtime/core/sweeper.ts"], tests: [...REFUNDS, ...JOBS] },
  {
    sources: ["runtime/drivers/facilitator/*.ts"],
    tests: ["test/drivers/facilitator/*.test.ts", "test/attacks/facilitator.test.ts", "test/rails.test.ts"],
  },
  {
    sources: ["runtime/drivers/evm/settlements.ts"],
    tests: ["test/drivers/evm/settlements.test.ts", "test/rails.test.ts"],
  },
  {
    sources: ["runtime/drivers/solana/settlements*.ts"],
    tests: ["test/drivers/solana/settlements.test.ts", "test/attacks/solana.test.ts", "test/rails.test.ts"],
  },
  {
    sources: ["runtime/drivers/store/*.ts"],
    tests: ["test/drivers/store/*.test.ts", "test/attacks/store.test.ts"],
  },
];
