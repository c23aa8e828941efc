import type { Command } from "commander";
import { EXIT } from "../exit-code.ts";
import { openTerminal } from "../terminal.ts";

const HELP = `
Exit code ${EXIT.failed}: something is not valid. ${EXIT.unchecked}: nothing is wrong, but some signatures cannot be checked, by this version or now,
or an offer beside signed ones is not signed.
`;

/** `verify`: checks signed offers and receipts. */
export function addVerifyCommand(program: Command): void {
  program
    .command("verify")
    .description("check the signed offers and receipts in a file, by the keys that their sellers publish")
    .argument("<file>", 'the output of "payphone call --json", a 402, or the value of PAYMENT-RESPONSE')
    .option("--json", "print what was signed as JSON")
    .addHelpText("after", HELP)
    .action(async (file: string, { json = false }: { json?: boolean }) => {
      const { runVerify } = await import("../verify/verify.ts");
      process.exitCode = await runVerify({ file, json }, openTerminal());
    });
}
