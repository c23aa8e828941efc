import fs, {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { restore } from "../../../runtime/cli/backup/backup.ts";
import { loadSet, type ManifestSet } from "../../../runtime/cli/set/load.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { itAsRoot } from "../../support/as-root.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { type LocalSeller, startLocalSeller } from "../../support/sellers/local-seller.ts";
import { json, type PayingFetch, stockFetch } from "../../support/sellers/stock-buyer.ts";

async function type(dataDir: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, out, err } = await runPayphone(args, { PAYPHONE_DATA_DIR: dataDir, ...env });
  return { code, said: out + err };
}

describe("a backup", () => {
  const [sold, restored, files, other] = [createFolder(), createFolder(), createFolder(), createFolder()];
  const file = join(files, "state.backup");
  const payments: { header: string; answer: string }[] = [];
  const sellers: LocalSeller[] = [];
  let set: ManifestSet;
  let backedUp: number;

  /** A buyer that notes each payment with its answer. */
  async function openBuyer(): Promise<PayingFetch> {
    const noting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const sent = input instanceof Request ? input.headers : new Headers(init?.headers);
      const header = sent.get("payment-signature");
      if (header && response.status === 200) payments.push({ header, answer: await response.clone().text() });
      return response;
    };
    return stockFetch(await sharedSandbox(), "base", noting);
  }

  async function serve(dataDir: string): Promise<LocalSeller> {
    const seller = await startLocalSeller({ sandbox: await sharedSandbox(), dataDir, set });
    sellers.push(seller);
    return seller;
  }

  before(async () => {
    set = await loadSet(await makeDirectory(TOSS));
    const seller = await serve(sold);
    const pay = await openBuyer();
    let isOver = false;
    const buying = (async () => {
      while (!isOver) await pay(`${seller.url}/v1/toss`, json({}));
    })();
    await eventually(() => payments.length >= 5);
    backedUp = payments.length;
    const made = await type(sold, ["backup", file]);
    expect(made.code, made.said).to.equal(0);
    expect(made.said).to.match(/state\.backup: \d+ entries, \d+ bytes, with the identity key$/m);
    await eventually(() => payments.length >= backedUp + 3);
    isOver = true;
    await buying;
    await sellers.pop()?.stop();
  });
  after(() => Promise.all(sellers.map((seller) => seller.stop())));

  it("that was made while the shop was selling is whole, and readable by its owner alone", async () => {
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(existsSync(`${file}.part`)).to.equal(false);
  });

  it("brings everything back that was sold before it: the same payment gets the same answer", async () => {
    const { code, said } = await type(restored, ["restore", file]);
    expect(code, said).to.equal(0);
    const identity = "a2a-identity.json";
    expect(said).to.include("entries restored, with the identity key.");
    expect(readFileSync(join(restored, identity), "utf8")).to.equal(readFileSync(join(sold, identity), "utf8"));
    expect(statSync(join(restored, identity)).mode & 0o777).to.equal(0o600);
    const seller = await serve(restored);
    for (const { header, answer } of payments.slice(0, backedUp)) {
      const response = await fetch(`${seller.url}/v1/toss`, json({}, { "payment-signature": header }));
      expect(response.status).to.equal(200);
      expect(await response.text()).to.equal(answer);
    }
    const pay = await openBuyer();
    expect((await pay(`${seller.url}/v1/toss`, json({}))).status).to.equal(200);
  });

  itAsRoot(
    "is its data directory's user's when root restores it; one that root must make is root's, and it says so",
    async () => {
      const folder = createFolder();
      chownSync(folder, 65_534, 65_533);
      const kept = await type(folder, ["restore", file]);
      expect(kept.said).to.match(/ restored, with the identity key\. Start the server now\n$/);
      for (const name of ["payphone.sqlite", "a2a-identity.json"])
        expect(statSync(join(folder, name)), name).to.include({ uid: 65_534, gid: 65_533 });
      const made = join(folder, "made");
      const { said } = await type(made, ["restore", file]);
      expect(said).to.include(`It belongs to root: "chown -R <user>: ${made}" where the server runs as another user`);
    },
  );

  it("never replaces anything: neither a file nor a state", async () => {
    expect(await type(sold, ["backup", file])).to.deep.include({ code: 2 });
    expect((await type(sold, ["backup", file])).said).to.match(/exists already: name a new file/);
    const over = await type(sold, ["restore", file]);
    expect(over.code).to.equal(2);
    expect(over.said).to.match(/payphone\.sqlite exists already: stop the server and move .* away first/);
  });

  it("is not made with an identity key that no server could use", async () => {
    const [identity, unmade] = [join(sold, "a2a-identity.json"), join(files, "unmade")];
    const whole = readFileSync(identity, "utf8");
    for (const damaged of [
      "",
      "{",
      whole.slice(0, -20),
      whole.replace(/"private_key": "..../, '"private_key": "AAAA'),
    ]) {
      writeFileSync(identity, damaged);
      const { code, said } = await type(sold, ["backup", unmade]);
      expect(code, said).to.equal(1);
      expect(said).to.match(/a2a-identity\.json is damaged: restore it/);
      expect(existsSync(unmade)).to.equal(false);
    }
    writeFileSync(identity, whole);
  });

  it("leaves nothing behind where its last step fails, so that it can be restored again", async () => {
    const folder = createFolder();
    const { renameSync } = fs;
    fs.renameSync = () => {
      throw new Error("the disk is full");
    };
    syncBuiltinESMExports();
    try {
      const place = { dataDir: folder, redisUrl: undefined };
      expect(() => restore(place, file)).to.throw("Nothing was restored: the disk is full");
    } finally {
      fs.renameSync = renameSync;
      syncBuiltinESMExports();
    }
    expect(readdirSync(folder)).to.deep.equal([]);
    expect((await type(folder, ["restore", file])).code).to.equal(0);
  });

  it("is not restored beside the log of a lost state, which SQLite would apply to it", async () => {
    const log = join(other, "payphone.sqlite-wal");
    writeFileSync(log, "");
    const { code, said } = await type(other, ["restore", file]);
    expect(code, said).to.equal(2);
    expect(said).to.match(/payphone\.sqlite-wal exists already: stop the server and move .* away first/);
    expect(existsSync(join(other, "payphone.sqlite"))).to.equal(false);
    rmSync(log);
  });

  it("says what is wrong with what is no backup, and leaves nothing behind", async () => {
    const [cut, text, flipped] = [join(files, "cut"), join(files, "text"), join(files, "flipped")];
    writeFileSync(cut, readFileSync(file));
    truncateSync(cut, Math.floor(statSync(file).size / 2));
    writeFileSync(text, "not a database, but a text that is long enough to be taken for one".repeat(20));
    const db = new DatabaseSync(file, { readOnly: true });
    const { key } = db.prepare("SELECT key FROM entries").get() as { key: string };
    db.close();
    const bytes = readFileSync(file);
    bytes.write("?", bytes.lastIndexOf(key)); // In its table or its index alone.
    writeFileSync(flipped, bytes);
    for (const wrong of [cut, text, flipped, join(files, "missing")]) {
      const { code, said } = await type(other, ["restore", wrong]);
      expect(code, said).to.equal(2);
      expect(said).to.match(/is no whole backup of payphone: /);
    }
    expect(existsSync(join(other, "payphone.sqlite"))).to.equal(false);
    expect((await type(other, ["backup", join(files, "x")])).said).to.match(
      /There is no store in .*: change to the shop's folder/,
    );
    for (const args of [
      ["backup", join(files, "x")],
      ["restore", file],
    ])
      expect((await type(other, args, { REDIS_URL: "redis://127.0.0.1:9" })).said).to.include("BGSAVE");
  });
});

describe("a backup of a shop that has no identity key of its own", () => {
  const [sold, files] = [createFolder(), createFolder()];
  const file = join(files, "state.backup");
  before(async () => {
    const store = await openStore({ dataDir: sold });
    await store.putIfAbsent("bought", "roll");
    await store.close();
  });

  it("is readable by its owner alone, and so is what it is restored to, whatever was there before or between", async () => {
    writeFileSync(`${file}.part`, "what a crash has left", { mode: 0o644 });
    const made = await type(sold, ["backup", file]);
    expect([made.code, made.said.includes("identity")], made.said).to.deep.equal([0, false]);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    chmodSync(file, 0o644);
    const place = join(files, "srv/shop");
    const { code, said } = await type(place, ["restore", file]);
    expect([code, said.includes("identity")], said).to.deep.equal([0, false]);
    const modes = [place, join(place, "payphone.sqlite")].map((path) => statSync(path).mode & 0o777);
    expect(modes).to.deep.equal([0o700, 0o600]);
    const store = await openStore({ dataDir: place });
    expect(await store.get("bought")).to.equal("roll");
    await store.close();
  });

  it("that fails says why, and leaves nothing behind", async () => {
    const nowhere = await type(sold, ["backup", join(files, "nowhere/state")]);
    expect(nowhere.code, nowhere.said).to.equal(1);
    expect(nowhere.said).to.match(/The backup was not made: ENOENT/);
    const damaged = createFolder();
    writeFileSync(join(damaged, "payphone.sqlite"), "no database".repeat(500));
    const { code, said } = await type(damaged, ["backup", join(files, "other")]);
    expect(code, said).to.equal(1);
    expect(said).to.match(/The backup was not made: /);
    expect(existsSync(join(files, "other.part"))).to.equal(false);
  });
});
