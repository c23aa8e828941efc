import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { runInit } from "../../../runtime/cli/init/init.ts";
import { toSource } from "../../../runtime/cli/init/source.ts";
import { checkDir } from "../../../runtime/cli/set/check.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { createFolder } from "../../support/folder.ts";

const ROOT = join(import.meta.dirname, "../../..");

describe("payphone init", () => {
  const home = createFolder();
  const init = (name: string, testnet = false): Promise<string> =>
    runInit({ dir: join(home, name), owner: 'Ada "of" Lovelace', url: "https://ada.example.com", testnet });

  it("makes a sound shop of the owner's name, with current types", async () => {
    await init("corner");
    const shop = join(home, "corner");
    expect(await checkDir(shop)).to.deep.equal([]);
    const { site, manifests } = await loadSet(shop);
    expect([site.name, site.title]).to.deep.equal(["corner", "Corner"]);
    expect(site.contact).to.deep.equal({ name: 'Ada "of" Lovelace', url: "https://ada.example.com" });
    expect(manifests.map(({ id }) => id)).to.deep.equal(["count_words"]);
    expect(readFileSync(join(shop, "schemas/generated/services.ts"), "utf8")).to.include('module "payphone/plugin"');
    const files = readdirSync(shop, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name)).to.include.members(["_site.yaml", "package.json"]);
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name), "utf8"), name).not.to.match(/\{\{/);
  });

  it("asks nobody where there is no terminal: the owner is git's user, and the address is to be changed", async () => {
    const bin = createFolder();
    writeFileSync(join(bin, "git"), "#!/bin/sh\necho Grace Hopper\n", { mode: 0o755 });
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    const args = [join(ROOT, "runtime/cli/payphone.js"), "init", join(home, "unasked")];
    const ran = spawnSync(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    expect(ran.status, `${ran.stderr}`).to.equal(0);
    const { site } = await loadSet(join(home, "unasked"));
    expect(site.contact).to.deep.equal({ name: "Grace Hopper", url: "https://example.com/unasked" });
  });

  it("makes a sound shop also of a name that YAML takes for something else than text", async () => {
    for (const name of ["2026", "null"]) {
      await init(name);
      const { site, faults } = await loadSet(join(home, name));
      expect([faults, site.name]).to.deep.equal([[], name]);
    }
  });

  it("names a command that leads into the shop, also where a folder above it has blanks and quotes", async () => {
    for (const above of ["plain", "Ada's $HOME (new)"]) {
      const said = await init(`${above}/nook`);
      const command = said.split("\n").find((line) => line.startsWith("  cd ")) ?? "";
      const { stdout } = spawnSync("sh", ["-c", `${command} && pwd -P`], { encoding: "utf8" });
      expect(stdout.trim(), command).to.equal(realpathSync(join(home, above, "nook")));
    }
  });

  it("holds Node and packages at the versions at which payphone holds them, and lets none run scripts that it does not", () => {
    const [own, made] = [ROOT, join(home, "corner")].map(
      (dir) => JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) as Record<string, Record<string, unknown>>,
    );
    expect(Object.keys(made!.overrides!)).to.deep.equal(["msgpackr-extract"]);
    expect(own!.overrides).to.include(made!.overrides);
    expect(made!.allowScripts).to.deep.equal(own!.allowScripts);
    expect(made!.engines).to.deep.equal(own!.engines);
  });

  it("takes its rails from payphone's own site", async () => {
    const [own, made] = await Promise.all([loadSet(ROOT), loadSet(join(home, "corner"))]);
    for (const rail of made.site.rails) {
      const { max_fee: _, ...same } = own.site.rails.find(({ id }) => id === rail.id)!;
      expect(rail).to.deep.equal(same);
    }
  });

  it("is paid on test networks with --testnet, and asks for no facilitator then", async () => {
    await init("trial", true);
    const shop = join(home, "trial");
    expect(await checkDir(shop)).to.deep.equal([]);
    const { site } = await loadSet(shop);
    expect(site.rails.map(({ testnet }) => testnet)).to.deep.equal([true, true]);
    expect(readFileSync(join(shop, ".env.example"), "utf8")).not.to.include("FACILITATOR");
  });

  it("writes nothing where the name or the folder will not do, and says what would", async () => {
    mkdirSync(join(home, "full"));
    writeFileSync(join(home, "full/notes.txt"), "mine");
    for (const [name, complaint] of [
      ["Corner_Shop", /"Corner_Shop" cannot be a shop's name: it must be .* like my-shop$/],
      ["full", /full is not empty \(notes\.txt\): name a folder that does not exist yet$/],
    ] as const)
      await init(name).then(
        () => expect.fail("it made a shop"),
        (error: Error) => expect(error.message).to.match(complaint),
      );
    expect(existsSync(join(home, "Corner_Shop"))).to.equal(false);
    expect(readdirSync(join(home, "full"))).to.deep.equal(["notes.txt"]);
  });

  it("makes a shop of a fresh repository, and keeps the texts that it has", async () => {
    const shop = join(home, "cloned");
    mkdirSync(join(shop, ".git"), { recursive: true });
    for (const [file, text] of Object.entries({ LICENSE: "mine", "README.md": "# Mine", ".gitignore": "dist/\n" }))
      writeFileSync(join(shop, file), text);
    await init("cloned");
    const read = (file: string): string => readFileSync(join(shop, file), "utf8");
    expect(await checkDir(shop)).to.deep.equal([]);
    expect(read("LICENSE")).to.equal("mine");
    expect(read("README.md")).to.match(/^# Mine\n\n# Cloned\n/);
    expect(read(".gitignore").split("\n")).to.include.members(["dist/", ".env", ".payphone/"]);
    await init("cloned").then(
      () => expect.fail("it made a shop anew"),
      (error: Error) => expect(error.message).to.include("is not empty (.env.example)"),
    );
  });

  it("leaves nothing of a shop that cannot be written whole", async () => {
    const shop = join(home, "unwritable");
    mkdirSync(join(shop, ".gitignore"), { recursive: true });
    writeFileSync(join(shop, "README.md"), "# Mine");
    await init("unwritable").then(
      () => expect.fail("it made a shop"),
      (error: NodeJS.ErrnoException) => expect(error.code).to.equal("EISDIR"),
    );
    expect(readdirSync(shop)).to.deep.equal([".gitignore", "README.md"]);
    expect(readFileSync(join(shop, "README.md"), "utf8")).to.equal("# Mine");
  });

  it("makes no shop without an owner, or with one that its own check would refuse", async () => {
    for (const owner of ["", " ", "x".repeat(101)])
      await runInit({ dir: join(home, "ownerless"), owner, url: "https://ada.example.com" }).then(
        () => expect.fail("it made a shop"),
        (error: Error) =>
          expect(error.message).to.equal('Name the owner in 1 to 100 characters: --owner "Ada Lovelace"'),
      );
    expect(existsSync(join(home, "ownerless"))).to.equal(false);
  });

  it("asks on a terminal, and makes nothing when it is told to stop", () => {
    const main = JSON.stringify(import.meta.resolve("../../../runtime/cli/main.ts"));
    const code = `process.stdin.isTTY = true;
      const { main } = await import(${main});
      await main(["node", "payphone", "init", process.argv[1]]);`;
    const answer = (shop: string, input: string) =>
      spawnSync(process.execPath, ["--input-type=module", "-e", code, shop], {
        cwd: home,
        input,
        encoding: "utf8",
      });
    for (const input of ["", "Ada\n"]) {
      const { status, stderr } = answer("stopped", input);
      expect(status, stderr).to.equal(2);
      expect(stderr).to.match(/\? \(.+\) payphone: Interrupted: no shop was made\n$/);
    }
    expect(existsSync(join(home, "stopped"))).to.equal(false);
  });

  it("lets the new shop install payphone from where this one came", () => {
    const installed = join(home, "node_modules/payphone");
    const note = (resolved: string): void => {
      mkdirSync(installed, { recursive: true });
      const text = JSON.stringify({ packages: { "node_modules/payphone": { resolved } } });
      writeFileSync(join(home, "node_modules/.package-lock.json"), text);
    };
    const source = (): string => toSource(join(home, "shop"), installed);
    note("file:../payphone-0.3.0.tgz");
    expect(source()).to.equal("file:../../payphone-0.3.0.tgz");
    note("https://registry.npmjs.org/payphone/-/payphone-0.3.0.tgz");
    expect(source()).to.match(/^\^\d+\.\d+\.\d+$/);
    note("git+ssh://git@git.example.com/shops/payphone.git#0123abc");
    expect(source()).to.equal("git+ssh://git@git.example.com/shops/payphone.git#0123abc");
    expect(toSource(join(home, "shop"), join(home, "checkout"))).to.equal("file:../checkout");
  });

  it("lets it do so where yarn or pnpm has installed this one, too", () => {
    const folder = join(home, "by-yarn");
    const source = (wanted: string, group = "dependencies"): string => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "package.json"), JSON.stringify({ [group]: { payphone: wanted } }));
      return toSource(join(folder, "shop"), join(folder, "node_modules/payphone"));
    };
    expect(source("file:../payphone-0.3.0.tgz")).to.equal("file:../../payphone-0.3.0.tgz");
    expect(source(`file:${join(home, "payphone-0.3.0.tgz")}`)).to.equal("file:../../payphone-0.3.0.tgz");
    expect(source("github:shops/payphone", "devDependencies")).to.equal("github:shops/payphone");
    expect(source("^0.2.0")).to.match(/^\^\d+\.\d+\.\d+$/);
  });

  it("lets it depend on this one where it is installed globally, of which npm makes no note", () => {
    const global = createFolder();
    mkdirSync(join(global, "lib/node_modules/payphone"), { recursive: true });
    const source = toSource(join(global, "shop"), join(global, "lib/node_modules/payphone"));
    expect(source).to.equal("file:../lib/node_modules/payphone");
  });
});
