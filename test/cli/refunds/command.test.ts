import { join } from "node:path";
import { expect } from "chai";
import { Command } from "commander";
import { addRefundCommands } from "../../../runtime/cli/commands/refunds.ts";
import { toRow } from "../../../runtime/cli/refunds/text.ts";
import { createRefundRecords, type OpenRefund } from "../../../runtime/core/refunds/records.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { failedJob } from "../../core/refunds/rail.ts";
import { site } from "../../support/chains/chains.ts";
import { createFolder } from "../../support/folder.ts";
import { thrown } from "../../support/thrown.ts";

const TRANSACTION = `0x${"ab".repeat(32)}`;

/** What `payphone refunds …` prints. */
async function command(dataDir: string, ...args: string[]): Promise<string> {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  addRefundCommands(program);
  const { log } = console;
  const { PAYPHONE_DATA_DIR: before } = process.env;
  const said: string[] = [];
  process.env.PAYPHONE_DATA_DIR = dataDir;
  console.log = (text: string) => void said.push(text);
  try {
    await program.parseAsync(["refunds", ...args], { from: "user" });
    return said.join("\n");
  } finally {
    console.log = log;
    if (before === undefined) delete process.env.PAYPHONE_DATA_DIR;
    else process.env.PAYPHONE_DATA_DIR = before;
  }
}

describe("the command payphone refunds", () => {
  const folder = createFolder();

  it("is a command with a list, its JSON, and a way to close", async () => {
    const dataDir = join(folder, "data");
    const store = await openStore({ dataDir });
    const { id, service, payment } = failedJob();
    const refund: OpenRefund = { id, service, payment, openedAt: 0, state: "manual", reason: "Why" };
    await createRefundRecords(store).open(refund);
    await store.close();
    expect(JSON.parse(await command(dataDir, "--json"))).to.deep.equal([toRow(refund, site.rails)]);
    expect(await command(dataDir)).to.match(new RegExp(`^job .*\n${id} `));
    expect(await command(dataDir, "close", id, "--tx", TRANSACTION, "--unchecked")).to.equal(
      `The refund of ${id} is closed: it was paid by ${TRANSACTION}`,
    );
    expect(await command(dataDir)).to.equal("no refunds are open");
    expect(await command(dataDir, "--json")).to.equal("[]");
    for (const both of [[], ["--tx", TRANSACTION, "--undone"]])
      expect(String(await thrown(command(dataDir, "close", id, ...both)))).to.contain("either --tx <transaction>");
  });

  it("escapes in JSON what a terminal would obey, such as of a node's reason", async () => {
    const dataDir = join(folder, "obeyed");
    const store = await openStore({ dataDir });
    const { id, service, payment } = failedJob();
    const reason = "a\u009b2Jb\u202ec\u2028d\u{e0041}";
    await createRefundRecords(store).open({ id, service, payment, openedAt: 0, state: "manual", reason });
    await store.close();
    const text = await command(dataDir, "--json");
    expect(text).to.include('"a\\u009b2Jb\\u202ec\\u2028d\\udb40\\udc41"');
    expect(JSON.parse(text)[0].reason).to.equal(reason);
  });

  it("lists and closes a sandbox's where there are no others, and says so", async () => {
    const dataDir = join(folder, "try");
    const store = await openStore({ dataDir: join(dataDir, "sandbox") });
    const { id, service, payment } = failedJob();
    const refund: OpenRefund = { id, service, payment, openedAt: 0, state: "manual", reason: "Why" };
    await createRefundRecords(store).open(refund);
    await store.close();
    const { error } = console;
    const said: string[] = [];
    console.error = (text: string) => void said.push(text);
    try {
      expect(await command(dataDir)).to.match(new RegExp(`^job .*\n${id} `));
      await command(dataDir, "close", id, "--tx", TRANSACTION, "--unchecked");
      expect(said).to.deep.equal(["The sandbox's: play money.", "The sandbox's: play money."]);
      await (await openStore({ dataDir })).close(); // From now on there is a shop for real money.
      expect(await command(dataDir)).to.equal("no refunds are open");
      expect(said).to.have.length(2);
    } finally {
      console.error = error;
    }
  });
});
