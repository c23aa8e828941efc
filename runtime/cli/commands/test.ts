import type { Command } from "commander";
import { loadEnv } from "../config/config.ts";
import { toShop } from "../config/shop.ts";
import { EXIT } from "../exit-code.ts";
import { shopOption } from "./directory.ts";

const HELP = `
Each example's input goes through its handler, with recordings in the place of all sources. The output is held to its schema
and, where the manifest shows an output, compared with it. What differs from run to run (times, signatures, chance) is held
to the schema alone. The same from mocha or node:test: import { contractTests } from "payphone/test".

Examples:
  payphone test
  payphone test count_words
`;

/** `test`: the contract tests of a shop. */
export function addTestCommand(program: Command): void {
  program
    .command("test")
    .description("run every example of every manifest, offline, and compare what comes out")
    .argument("[services...]", "ids of services; all by default")
    .addOption(shopOption())
    .addHelpText("after", HELP)
    .action(async (services: string[], { dir: given }: { dir?: string }) => {
      const dir = toShop(given);
      const { runTest } = await import("../contract/run.ts");
      const haveComeTrue = await runTest({ dir, services, env: loadEnv(), print: (line) => console.log(line) });
      process.exitCode = haveComeTrue ? EXIT.ok : EXIT.failed;
    });
}
