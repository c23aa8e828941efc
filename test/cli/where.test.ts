import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { edit, makeDirectory, TOSS } from "../core/set/served-directory.ts";
import { itAsRoot } from "../support/as-root.ts";
import { sharedSandbox } from "../support/chains/chains.ts";
import { LAUNCHER, typePayphone as type } from "../support/commands/commands.ts";
import { createFolder } from "../support/folder.ts";
import { findFreePort } from "../support/free-port.ts";
import { INHERITED } from "../support/inherited.ts";

/** The variables of a server that could start. */
async function completeSettings(): Promise<Readonly<Record<string, string>>> {
  const { env } = await sharedSandbox();
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const given = Object.entries({ ...env, PORT: new URL(url).port, PUBLIC_BASE_URL: url });
  return Object.fromEntries(given.filter((each): each is [string, string] => each[1] !== undefined));
}

describe("a command", () => {
  it("looks at the shop that one stands in, also in a folder below, and finds its faults", async () => {
    const shop = await makeDirectory(edit(TOSS, "manifests/_site.yaml", "name: corner-shop", "name: CORNER SHOP"));
    await mkdir(join(shop, "docs/deep"), { recursive: true });
    for (const folder of [shop, join(shop, "manifests"), join(shop, "docs/deep")]) {
      const { code, said } = await type(folder, ["check"]);
      expect(code, said).to.equal(1);
      expect(said).to.include("_site.yaml").and.to.include("CORNER SHOP");
    }
    expect(await type(await makeDirectory(TOSS), ["check"])).to.deep.include({ code: 0 });
  });

  it("never falls back on payphone's own set: outside of a shop it says where it has looked", async () => {
    const empty = createFolder();
    for (const name of ["check", "types", "record", "serve", "sandbox"]) {
      const { code, said } = await type(empty, [name]);
      expect(code, said).to.equal(2);
      expect(said).to.match(/^payphone: There is no folder manifests\/ here \(.+\) or in any folder above\. Change to/);
    }
  });

  itAsRoot("passes over a shop above that another user has made, and names it", async () => {
    const shared = await makeDirectory(TOSS);
    await writeFile(join(shared, ".env"), "PORT=one\n");
    const below = join(shared, "mine/deep");
    await mkdir(below, { recursive: true });
    expect(await type(below, ["check"])).to.deep.include({ code: 0 });
    await chown(join(shared, "manifests"), 65_534, 65_534);
    const where = `payphone: ${join(shared, "manifests")} belongs to another user, whose plugins would run here. Change to`;
    expect((await type(below, ["check"])).said).to.match(new RegExp(`^${where}`));
    expect((await type(below, ["sales"])).said, "its .env").not.to.include("PORT");
    expect(await type(shared, ["check"]), "in it").to.deep.include({ code: 0 });
    await chown(below, 65_534, 65_534);
    expect(await type(below, ["check"]), "in a folder of that user's").to.deep.include({ code: 0 });
  });

  it("takes neither an empty text nor a file for the folder of a shop", async () => {
    const shop = await makeDirectory(TOSS);
    const site = join(shop, "manifests/_site.yaml");
    const right = "write the path of the folder that has manifests/";
    for (const name of ["check", "sales", "status", "serve"])
      for (const [dir, what] of [
        ["", "--dir is empty"],
        [site, `--dir ${site} is no folder`],
      ] as const)
        expect(await type(shop, [name, "--dir", dir])).to.deep.equal({
          code: 2,
          said: `payphone: ${what}: ${right}\n`,
        });
  });

  it("reads the variables of the shop's .env, of which the environment's own win unless they are empty", async () => {
    const shop = await makeDirectory(TOSS);
    await writeFile(join(shop, ".env"), "PORT=one\nLOG_LEVEL=loud\n");
    const { code, said } = await type(shop, ["serve"], { LOG_LEVEL: "warn", PORT: " " });
    expect(code).to.equal(2);
    expect(said).to.include('PORT is "one"').and.not.to.include("LOG_LEVEL");
    await writeFile(join(shop, "other.env"), "HOST=!\n");
    const other = await type(shop, ["serve", "--env-file", "other.env"]);
    expect(other.said).to.include("HOST").and.not.to.include("PORT must");
  });

  it("says which file of variables is missing", async () => {
    const { code, said } = await type(createFolder(), ["sales", "--env-file", "none.env"]);
    expect(code).to.equal(2);
    expect(said).to.equal(
      "payphone: The variables of none.env cannot be read: there is no such file; name one with lines like NAME=value\n",
    );
  });

  it("reads a .env with a byte order mark, and refuses one that is no file or not UTF-8", async () => {
    const shop = await makeDirectory(TOSS);
    await writeFile(join(shop, ".env"), "\uFEFFPORT=one\n");
    expect((await type(shop, ["serve"])).said).to.include('PORT is "one"');
    const refused = `payphone: The variables of ${join(shop, ".env")} cannot be read: `;
    await writeFile(join(shop, ".env"), "\uFEFFPORT=one\n", "utf16le");
    expect(await type(shop, ["check"])).to.deep.equal({ code: 2, said: `${refused}it is not UTF-8\n` });
    const folder = await makeDirectory({ ...TOSS, ".env/README.md": "" });
    const { code, said } = await type(folder, ["check"]);
    expect(code).to.equal(2);
    expect(said).to.include(`${join(folder, ".env")} cannot be read: EISDIR`);
  });

  it("takes the files that a .env names from its own shop, and never those of the shop in which it is given", async () => {
    const named = { ".env": "ADMIN_TOKEN_FILE=keys/token\n" };
    const [shop, other, without] = await Promise.all([
      makeDirectory({ ...TOSS, ...named, "keys/token": "short" }),
      makeDirectory({ ...TOSS, ...named, "keys/token": "" }),
      makeDirectory({ ...TOSS, ...named }),
    ]);
    const cases = [
      [join(shop, "manifests"), shop, "whose content (not shown) must be"],
      [other, shop, "whose content (not shown) must be"],
      [other, without, "which cannot be read (ENOENT)"],
    ] as const;
    for (const [folder, dir, what] of cases) {
      const { said } = await type(folder, ["status", "--dir", dir]);
      expect(said).to.include(`ADMIN_TOKEN_FILE names "${join(dir, "keys/token")}", ${what}`);
    }
  });

  it("names the lines of a .env that set no variable, without showing them", async () => {
    const shop = await makeDirectory(TOSS);
    const lines = [
      "# keys",
      "",
      "A=a='1", // Such a quote is a part of the value.
      "BOOK_KEY: s3cret",
      " export MY_B = 'two",
      "lines' # here",
      "nonsense",
      'C="open',
      "D=`x`",
    ];
    await writeFile(join(shop, ".env"), `\uFEFF${lines.join("\r\n")}`);
    const complaints = [4, 7].map(
      (line) => `payphone: line ${line} of ${join(shop, ".env")} sets no variable: write NAME=value\n`,
    );
    expect(await type(shop, ["check"])).to.deep.equal({ code: 0, said: `no faults\n${complaints.join("")}` });
  });

  it("does not begin with a .env in which a quote takes in the variables after it, and their secrets", async () => {
    const shop = await makeDirectory(TOSS);
    const fault = "the quote in line 4 is not closed before the next variables";
    const said = `payphone: The variables of ${join(shop, ".env")} cannot be read: ${fault}\n`;
    for (const later of ["BUYER_EVM_KEY=s3cret", "export BUYER_EVM_KEY=s3cret"]) {
      const lines = ["# keys", "A='1", "2'", 'BASE_RPC_URL="https://node.example', later, 'C="3"'];
      await writeFile(join(shop, ".env"), lines.join("\n"));
      expect(await type(shop, ["check"])).to.deep.equal({ code: 2, said });
    }
  });

  it("takes no ~ or variable in a .env for a folder of that name, which a shell would replace", async () => {
    const shop = await makeDirectory(TOSS);
    for (const folder of ["~/state", "$HOME/state"]) {
      await writeFile(join(shop, ".env"), `PAYPHONE_DATA_DIR=${folder}\n`);
      const { code, said } = await type(shop, ["history"]);
      expect([code, said]).to.deep.equal([2, said]);
      expect(said).to.include("PAYPHONE_DATA_DIR is").and.to.include("with its path in the place of ~ or $HOME");
    }
  });

  it("keeps the shop's state in the shop's folder, wherever it is started", async () => {
    const shop = await makeDirectory(TOSS);
    const elsewhere = createFolder();
    const { env } = await sharedSandbox();
    const given = Object.fromEntries(Object.entries({ ...env, PORT: "0" }).filter(([, value]) => value !== undefined));
    const { said } = await type(elsewhere, ["refunds", "--dir", shop], given as Record<string, string>);
    expect(said).to.include(join(shop, ".payphone"));
    for (const args of [["status"], ["rollback"], ["trust", "remote"], ["backup", "copy"], ["peer", "rotate"]])
      expect((await type(elsewhere, [...args, "--dir", shop])).said).to.include(join(shop, ".payphone"));
    expect((await type(elsewhere, ["history", "--dir", shop])).code).to.equal(0);
    expect(existsSync(join(elsewhere, ".payphone"))).to.equal(false);
  });

  it("says so when the data directory cannot be read, instead of seeing no state in it", async () => {
    const shop = await makeDirectory({ ...TOSS, state: "" });
    const env = { ...(await completeSettings()), PAYPHONE_DATA_DIR: join(shop, "state") };
    for (const args of [["history"], ["sales"], ["serve"], ["serve", "--check"]]) {
      const { code, said } = await type(shop, args, env);
      expect(code, said).to.equal(1);
      expect(said)
        .to.match(/^payphone: .*state.* cannot be (?:read|reached) \(ENOTDIR\): is PAYPHONE_DATA_DIR right, /)
        .and.not.to.include("    at ");
    }
  });

  it("says so when the store was lost and its log is left, instead of showing a sandbox's or none", async () => {
    const shop = await makeDirectory({
      ...TOSS,
      ".payphone/payphone.sqlite-wal": "what was written last",
      ".payphone/sandbox/payphone.sqlite": "",
    });
    const settings = await completeSettings();
    for (const args of [["sales"], ["refunds"], ["backup", "copy"], ["serve", "--check"], ["serve"]]) {
      const { code, said } = await type(shop, args, settings);
      expect(code, said).to.equal(1);
      expect(said, args.join(" ")).to.match(/^payphone: .*: payphone\.sqlite is missing or empty, but its log .*\n$/);
    }
  });

  it("says without a stack that the folder in which it is given was removed", async () => {
    const gone = createFolder();
    const typed = spawnSync("sh", ["-c", `rmdir "$PWD" && "${process.execPath}" "${LAUNCHER}" check`], {
      cwd: gone,
      env: INHERITED,
      encoding: "utf8",
    });
    expect([typed.status, typed.stderr]).to.deep.equal([
      1,
      "payphone: the current folder was removed: change to another one\n",
    ]);
  });

  it("says without a stack which folder it cannot make", async () => {
    const dir = await makeDirectory({ ...TOSS, "schemas/generated": "" });
    expect(await type(dir, ["types"])).to.deep.equal({
      code: 1,
      said: `payphone: EEXIST: file already exists, mkdir '${join(dir, "schemas/generated")}'\n`,
    });
  });

  it("keeps it in one place, wherever it is started, also when the shop's .env names a relative folder", async () => {
    const shop = await makeDirectory(TOSS);
    await writeFile(join(shop, ".env"), "PAYPHONE_DATA_DIR=state\n");
    for (const own of [undefined, "", " "])
      for (const folder of [shop, join(shop, "manifests")]) {
        const { said } = await type(folder, ["refunds"], own === undefined ? {} : { PAYPHONE_DATA_DIR: own });
        expect(said).to.include(`There is no store in ${join(shop, "state")}:`);
      }
    const { said } = await type(join(shop, "manifests"), ["refunds"], { PAYPHONE_DATA_DIR: "mine" });
    expect(said).to.include(`There is no store in ${join(shop, "manifests/mine")}:`);
  });
});
