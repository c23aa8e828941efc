import type { Command } from "commander";

const HELP = `
The folder gets package.json, tsconfig.json, manifests/_site.yaml, one service with its plugin and test, and a README. On a
terminal it asks for what is not given; otherwise it asks nothing.

Examples:
  payphone init my-shop
  payphone init my-shop --owner "Ada Lovelace" --url https://ada.example.com
`;

/** `init`: a shop of one's own. */
export function addInitCommand(program: Command): void {
  program
    .command("init")
    .description("make a new shop: a folder with one service that can be sold at once")
    .argument("<folder>", "the new folder; its name becomes the shop's")
    .option("--owner <name>", "who sells (default: git's user.name, or this machine's user)")
    .option("--url <address>", "where buyers can reach the owner")
    .option("--testnet", "be paid on Base Sepolia and Solana devnet, in money that is worth nothing")
    .addHelpText("after", HELP)
    .action(async (dir: string, flags: { owner?: string; url?: string; testnet?: boolean }) => {
      const { runInit } = await import("../init/init.ts");
      console.log(await runInit({ dir, ...flags }));
    });
}
