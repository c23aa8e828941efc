import type { Command } from "commander";
import { Problem } from "../../api/problem.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { toColumns } from "../columns.ts";
import { loadStorePlace } from "../config/server-store.ts";
import { toShop } from "../config/shop.ts";
import { toPrintableJson } from "../printable.ts";
import { shopOption } from "./directory.ts";
import { checkSpan, fromOption, toOption } from "./sales.ts";

const HELP = `
Messages that a receiver does not take are sent again for a day, and then given up. What was given up is kept for a month.
Receivers, their secrets and what they are told of stand under "webhooks" in manifests/_site.yaml.

Examples:
  payphone webhooks
  payphone webhooks resend --given-up
  payphone webhooks resend --from 2026-09-01 --to 2026-09-02
  payphone webhooks resend sale_1f0c…
`;

/** `webhooks` and `webhooks resend`: lists undelivered messages, and sends messages again. */
export function addWebhookCommands(program: Command): void {
  const webhooks = program
    .command("webhooks")
    .description("list the messages that receivers of webhooks have not taken")
    .option("--json", "print a JSON list")
    .addOption(shopOption())
    .addHelpText("after", HELP)
    .action(async ({ dir, json = false }: { dir?: string; json?: boolean }) => {
      const { listWebhooks } = await import("../webhooks/webhooks.ts");
      const rows = await listWebhooks(loadStorePlace(), await loadSite(dir));
      if (json) console.log(toPrintableJson(rows));
      else if (rows.length === 0) console.log("no message waits, and none was given up");
      else
        for (const line of toColumns(
          rows.map((row) => [row.state, row.endpoint, row.id, `${row.failures}`, row.reason ?? "", row.next ?? ""]),
        ))
          console.log(line);
    });
  webhooks
    .command("resend")
    .description("send messages again")
    .argument("[ids...]", "messages, sales, refunds, transactions, jobs or request ids")
    .option("--given-up", "everything that was given up")
    .addOption(fromOption("every line of the book from this day (UTC) or time on"))
    .addOption(toOption())
    .addOption(shopOption())
    .action(async (ids: string[], options: { givenUp?: true; from?: number; to?: number }, command: Command) => {
      if (ids.length === 0 && !options.givenUp && options.from === undefined)
        command.error("error: name what is to be sent again: ids, --given-up or --from");
      if (options.to !== undefined && options.from === undefined)
        command.error("error: --to ends what --from begins: name both");
      checkSpan(options);
      const { resendWebhooks } = await import("../webhooks/webhooks.ts");
      const { dir } = command.optsWithGlobals<{ dir?: string }>();
      const count = await resendWebhooks(loadStorePlace(), await loadSite(dir), { ids, ...options });
      console.log(`${count} ${count === 1 ? "message is" : "messages are"} queued again`);
    });
}

/** @throws Problem `bad-request` where its file does not tell the receivers: their messages would be left out unsaid. */
async function loadSite(dir: string | undefined): Promise<SiteManifest> {
  const { loadSet } = await import("../set/load.ts");
  const { site, faults } = await loadSet(toShop(dir));
  const isRead = Object.keys(site).length > 0;
  const fault = faults.find(({ file, message }) => file === SITE && (!isRead || /^webhooks\b/.test(message)));
  if (fault) throw new Problem("bad-request", `${SITE}: ${fault.message}`);
  return site;
}

const SITE = "manifests/_site.yaml";
