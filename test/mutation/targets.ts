/** The money path, whose mutants must die. Globs below the root. */
export const SOURCES: readonly string[] = [
  "runtime/core/{invoke,perform,payments,leases,once,deadline,digest,sweeper}.ts",
  "runtime/core/{payments,x402,jobs,refunds}/*.ts",
  "runtime/drivers/facilitator/*.ts",
  "runtime/drivers/evm/settlements.ts",
  "runtime/drivers/solana/settlements*.ts",
  "runtime/drivers/store/*.ts",
];

/**
 * The tests that may notice. Each mutant meets those that run its code, the quick ones first. Those that kill processes or
 * try thousands of inputs are left out: they would make the survivors fewer, and each of these ten times as dear.
 */
export const TESTS: readonly string[] = [
  "test/core/{payments,x402,jobs,refunds}/!(*crash).test.ts",
  "test/core/*.test.ts",
  "test/drivers/{facilitator,solana,store}/*.test.ts",
  "test/drivers/evm/{evm,settlements}.test.ts",
  "test/drivers/queue/store.test.ts",
  "test/surfaces/{mcp,a2a}/!(fuzz).test.ts",
  "test/server/{rest,polls,reports,reports-served,limits,problems}.test.ts",
  "test/attacks/{background,disconnect,facilitator,gas,lies,replay,settlement,solana,store,terms,unpaid-work}.test.ts",
  "test/cli/refunds/*.test.ts",
  "test/rails.test.ts",
];
