import type { Command } from "commander";
import { loadConfig } from "../config/config.ts";
import { openTerminal } from "../terminal.ts";
import { toBaseUrl } from "./arguments.ts";
import { shopOption } from "./directory.ts";

/** `peer hello` and `peer rotate`. */
export function addPeerCommands(program: Command): void {
  const peer = program.command("peer").description("speak with other agents as this server, under its identity key");
  peer
    .command("hello")
    .description("send a signed greeting to another agent, and show who answers")
    .argument("<url>", "its public base URL", toBaseUrl)
    .option("--json", "print its answer as it is")
    .addOption(shopOption())
    .action(async (url: string, { json = false }: { json?: boolean }) => {
      const { runPeerHello } = await import("../peer/peer.ts");
      process.exitCode = await runPeerHello(loadConfig(), { url, json }, openTerminal());
    });
  peer
    .command("rotate")
    .description("begin the change to a new identity key, without a gap")
    .addOption(shopOption())
    .action(async () => {
      const { runPeerRotate } = await import("../peer/peer.ts");
      process.exitCode = await runPeerRotate(loadConfig(), openTerminal());
    });
}
