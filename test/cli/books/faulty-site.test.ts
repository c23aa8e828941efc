import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { stringify } from "yaml";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { toSale } from "../../support/books/sales.ts";
import { site } from "../../support/chains/chains.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";

describe("payphone sales and webhooks beside a folder that is being edited", () => {
  const dir = createFolder();
  const payer = `0x${"ab".repeat(20)}`;
  const sale = toSale({ at: Date.UTC(2026, 0, 1), payer });
  before(async () => {
    mkdirSync(join(dir, "manifests"));
    const store = await openStore({ dataDir: join(dir, "data") });
    await store.enter(sale, { key: "key", value: 1 });
    await store.close();
  });

  const run = async (text: string, ...command: string[]): Promise<string> => {
    writeFileSync(join(dir, "manifests/_site.yaml"), text);
    const { out, err } = await runPayphone([...command, "--dir", dir], { PAYPHONE_DATA_DIR: join(dir, "data") });
    return out + err;
  };
  const told = (written: unknown, ...args: string[]): Promise<string> => run(stringify(written), "sales", ...args);

  it("says what is faulty in the rails or the books of its site", async () => {
    const faulty = [{ books: { keep_days: "abc" } }, { books: { own: 18 } }, { rails: [{ id: "base" }] }];
    for (const each of [null, [], ...faulty.map((part) => ({ ...site, ...part }))])
      expect(await told(each)).to.match(/^payphone: .*_site\.yaml: (rails|books)\b.*: .*\n$/);
  });

  it("minds no other fault", async () => {
    expect(await told({ ...site, limits: 5, books: { keep_days: 1 } })).to.include(sale.id);
  });

  it("says that it does not keep all of the sales that are asked for", async () => {
    const short = { ...site, books: { keep_days: 30 } };
    const missing = "books.keep_days is 30: earlier sales are not kept";
    for (const format of [[], ["--csv"], ["--group", "day"]])
      expect(await told(short, "--from", "2026-01-01", ...format)).to.include(missing);
    expect(await told(short, "--from", new Date().toISOString())).not.to.include(missing);
    expect(await told(short)).not.to.include(missing);
  });

  it("says which sales are to the seller's own wallets, as the folder has them by now", async () => {
    const [own, others] = [{ own: [payer] }, {}].map((books) => ({ ...site, books }));
    expect(await told(own)).to.include(
      "\n0 sales, 0 refunds: $0 revenue. Left out: 1 sale to your own wallets ($0.001).\n",
    );
    expect(await told(others)).to.match(/\n1 sale, 0 refunds: \$0\.001 revenue\.\n$/);
    expect(await told(own, "--json")).to.include('"own":true');
    expect(await told(own, "show", sale.id)).to.include(`${sale.id} (paid by your own wallet: no revenue)\n`);
    for (const args of [["--json"], ["show", sale.id]]) expect(await told(others, ...args)).not.to.match(/\bown\b/);
  });

  it("says what is faulty in the receivers of its site, and not that no message waits for them", async () => {
    const webhooks = [{ id: "accounts", url: "https://accounts.example.com", secrets: "HOOK_SECRET" }];
    const wrong = /^payphone: manifests\/_site\.yaml: webhooks\[0\]\.secrets?: .*\n$/;
    for (const command of [["webhooks"], ["webhooks", "resend", "--given-up"]]) {
      expect(await run(stringify({ ...site, webhooks }), ...command)).to.match(wrong);
      expect(await run("name: [", ...command)).to.match(/^payphone: manifests\/_site\.yaml: Flow sequence .*\n$/);
      expect(await run(stringify({ ...site, limits: 5 }), ...command)).to.match(
        /^no message waits|^0 messages are queued/,
      );
    }
  });
});
