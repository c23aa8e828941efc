import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { stringify } from "yaml";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { toSale } from "../../support/books/sales.ts";
import { site } from "../../support/chains/chains.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";

describe("payphone sales beside a folder that is being edited", () => {
  const dir = createFolder();
  const sale = toSale({ at: Date.UTC(2026, 0, 1) });
  before(async () => {
    mkdirSync(join(dir, "manifests"));
    const store = await openStore({ dataDir: join(dir, "data") });
    await store.enter(sale, { key: "key", value: 1 });
    await store.close();
  });

  const told = async (written: unknown, ...args: string[]): Promise<string> => {
    writeFileSync(join(dir, "manifests/_site.yaml"), stringify(written));
    const { out, err } = await runPayphone(["sales", "--dir", dir, ...args], { PAYPHONE_DATA_DIR: join(dir, "data") });
    return out + err;
  };

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
});
