/** The money path, whose mutants must die: not the caches, limits and backups that stand beside it. Globs below the root. */
export const SOURCES: readonly string[] = [
  "runtime/core/{invoke,perform,payments,once,digest}.ts",
  "runtime/core/{payments,payments/identifiers,payments/offers,x402,jobs,refunds,time}/*.ts",
  "runtime/drivers/facilitator/{,local/}*.ts",
  "runtime/drivers/evm/settlements.ts",
  "runtime/drivers/solana/settlements*.ts",
  "runtime/drivers/store/!(cache|redis-limiter).ts",
  "runtime/drivers/store/sqlite/!(backup).ts",
];

/**
 * The tests that may notice. Each mutant meets those that run its code, the quick ones first. Those that take longer than
 * ten seconds, kill processes or try thousands of inputs are left out: with them fewer mutants would survive, and each
 * survivor would cost ten times as much.
 */
export const TESTS: readonly string[] = [
  "test/core/*.test.ts",
  "test/core/{payments,payments/identifiers,payments/offers,x402,jobs,time}/!(*crash).test.ts",
  "test/core/refunds/{attempt,credit-served,failing-work,obstacles,refunds,undone}.test.ts",
  "test/drivers/{facilitator,store}/*.test.ts",
  "test/drivers/evm/settlement*.test.ts",
  "test/drivers/solana/settlement*.test.ts",
  "test/surfaces/mcp/payment.test.ts",
  "test/server/{rest,polls,reports,reports-served}.test.ts",
  "test/attacks/{background,gas,lies,replay,settlement,settlement-record,solana,store,terms,unpaid-work}.test.ts",
  "test/cli/refunds/*.test.ts",
];
