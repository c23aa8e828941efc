import type { Command } from "commander";
import { loadConfig } from "../config/config.ts";
import { shopOption } from "./directory.ts";

const BACKUP_HELP = `
The server may be selling meanwhile: the file holds the state of one moment. It holds paid results and, where payphone made
one, the agent's identity key: keep it as secret as the data directory (PAYPHONE_DATA_DIR).

Examples:
  payphone backup state.backup
  payphone backup /mnt/backups/$(date +%F).backup
`;
const RESTORE_HELP = `
The data directory must hold no state yet. What was sold after the backup is not in it: those payments cannot be settled
again, and their buyers cannot fetch their results any more.

Examples:
  payphone restore state.backup
  PAYPHONE_DATA_DIR=/var/lib/payphone payphone restore state.backup
`;

/** `backup` and `restore`: the embedded state, in one file. */
export function addBackupCommands(program: Command): void {
  program
    .command("backup")
    .description("copy the shop's state into one file, while it is selling")
    .argument("<file>", "a new file")
    .addOption(shopOption())
    .addHelpText("after", BACKUP_HELP)
    .action(async (file: string) => {
      const { backUp } = await import("../backup/backup.ts");
      const { entries, bytes, hasIdentity, file: written } = backUp(loadConfig(), file);
      console.log(`${written}: ${entries} entries, ${bytes} bytes${hasIdentity ? ", with the identity key" : ""}`);
    });
  program
    .command("restore")
    .description("put a backup in the place of a state that is lost")
    .argument("<file>", "what payphone backup has written")
    .addOption(shopOption())
    .addHelpText("after", RESTORE_HELP)
    .action(async (file: string) => {
      const { restore } = await import("../backup/backup.ts");
      const config = loadConfig();
      const { dataDir } = config;
      const { entries, hasIdentity, isOfRoot } = restore(config, file);
      const key = hasIdentity ? ", with the identity key" : "";
      const next = isOfRoot
        ? `It belongs to root: "chown -R <user>: ${dataDir}" where the server runs as another user, and start the server`
        : "Start the server now";
      console.log(`${dataDir}: ${entries} entries restored${key}. ${next}`);
    });
}
