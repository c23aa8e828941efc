import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { Command } from "commander";
import { listPlaces } from "../../runtime/cli/completion/places.ts";
import { SCRIPTS } from "../../runtime/cli/completion/scripts.ts";
import { createProgram, main } from "../../runtime/cli/main.ts";
import { openStore, storeFileOf } from "../../runtime/drivers/store/open-store.ts";
import { findProgram } from "../run/programs.ts";
import { createFolder } from "../support/folder.ts";

/** Every command that does something, by its words. */
function leavesOf(command: Command, words: readonly string[] = []): [string, Command][] {
  const inner = command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]));
  const isGroup = command.registeredArguments.length === 0 && inner.length > 0 && words.join() !== "refunds";
  return isGroup ? inner : [[words.join(" "), command], ...inner];
}

const LEAVES = leavesOf(createProgram());

/** What a command line that will not do says on standard error, and its exit code. */
async function say(...args: string[]): Promise<{ said: string; code: unknown }> {
  const { error } = console;
  const { write } = process.stderr;
  const { PAYPHONE_DATA_DIR } = process.env;
  let said = "";
  console.error = (text: string) => {
    said += `${text}\n`;
  };
  process.stderr.write = (text: string | Uint8Array) => {
    said += text;
    return true;
  };
  try {
    await main(["node", "payphone", ...args]);
    return { said, code: process.exitCode };
  } finally {
    console.error = error;
    process.stderr.write = write;
    process.exitCode = 0;
    if (PAYPHONE_DATA_DIR === undefined) delete process.env.PAYPHONE_DATA_DIR;
    else process.env.PAYPHONE_DATA_DIR = PAYPHONE_DATA_DIR;
  }
}

describe("the command line", () => {
  for (const [words, command] of LEAVES) {
    it(`shows two examples of payphone ${words}`, () => {
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      const [, examples = "", ...more] = help.split("Examples:");
      expect(more, help).to.deep.equal([]);
      const own = examples.split("\n").filter((line) => line.startsWith("  ") && line.includes(`payphone ${words}`));
      expect(own, help).to.have.length.of.at.least(2);
    });

    it(`refuses an option that payphone ${words} does not have, in one sentence, with exit code 2`, async () => {
      const needed = command.options.flatMap(({ mandatory, long }) => (mandatory && long ? [long, "x"] : []));
      const { said, code } = await say(...words.split(" "), ...needed, "--no-such-option");
      expect([code, said.trim().split("\n").length], said).to.deep.equal([2, 1]);
      expect(said).to.include("unknown option '--no-such-option'");
    });
  }

  for (const [line, right] of [
    ["init My_Shop", /^payphone: "My_Shop" cannot be a shop's name: it must be .+ like my-shop$/],
    ["init /dev/null/shop --operations getRates", /^error: --operations is about a document: name it with --from$/],
    ["init /dev/null/shop --price 0.005", /^error: --price is about a document: name it with --from$/],
    ["completion nu", /Allowed choices are bash, zsh, fish/],
    ["test nothing", /^payphone: No manifest has an example of "nothing": the services with examples are .+roll/],
    ["call roll --url pay.example.com", /It must be a web address like https:\/\/pay\.example\.com/],
    ["call roll {low:1}", /JSON/],
    ["mcp-proxy pay.example.com", /It must be a web address/],
    ["mcp-proxy https://me:secret@a.example/mcp", /It must be a web address that .*, with no user name or password/],
    ["call roll --max 5eur", /a currency and an amount, like eur=5/],
    ["call roll --max usd=5", /another currency, since there is --max-usd/],
    ["mcp-proxy https://a.example/mcp --max-usd-per-day lots", /a plain decimal number above zero, like 0\.05/],
    ["peer hello peer.example.com", /It must be a web address like https:\/\/pay\.example\.com or/],
    ["peer hello https://example.com/paid", /PUBLIC_BASE_URL is not set/],
    ["purchases --url ftp://pay.example.com", /It must be a web address/],
    ["verify no-such-file.json", /^payphone: cannot read no-such-file\.json \(ENOENT\)$/],
    ["refunds close some-job", /^payphone: Give either --tx <transaction>, .*, or --undone, where/],
    ["record --new --check nothing", /^error: option '--check' cannot be used with option '--new'$/],
    ["serve --json", /^payphone: --json belongs to serve --check; serve itself sells$/],
    ["sandbox --port 4022", /The port is in the environment: PORT=4022$/],
    ["serve --port=4022", /The port is in the environment: PORT=4022$/],
    ["sandbox --dir no-such-shop", /there is no directory .*no-such-shop/],
  ] as const)
    it(`says what would be right instead of "payphone ${line}", with exit code 2`, async () => {
      const { said, code } = await say(...line.split(" "));
      expect(said).not.to.match(/^\s+at /m);
      expect(said).to.match(new RegExp(right.source, "m"));
      expect(code, said).to.equal(2);
    });

  it("gives the reason why a damaged store cannot be reached", async () => {
    const path = createFolder();
    const file = storeFileOf(path);
    await (await openStore({ dataDir: path })).close();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0x2a, 8192, 20480)); // Three pages: the file can be opened still.
    process.env.PAYPHONE_DATA_DIR = path;
    const { said, code } = await say("refunds");
    expect(said).to.match(/^payphone: The store cannot be reached: database disk image is malformed$/m);
    expect(code).to.equal(1);
  });

  it("is completed in bash: commands, commands of commands, and options, also after options", () => {
    const script = SCRIPTS.bash(listPlaces(createProgram()));
    const complete = (...words: string[]): string[] => {
      const set = `COMP_WORDS=(payphone ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}`;
      const { stdout } = spawnSync("bash", ["-c", `${script}\n${set}; _payphone; echo "\${COMPREPLY[*]}"`], {
        encoding: "utf8",
      });
      return stdout.trim().split(/\s+/);
    };
    expect(complete("mcp")).to.deep.equal(["mcp-proxy"]);
    expect(complete("peer", "h")).to.include("hello");
    expect(complete("--env-file", "x.env", "refunds", "close", "--t")).to.deep.equal(["--tx"]);
  });

  for (const shell of ["zsh", "fish"] as const)
    it(`has a script for ${shell} that the shell can read`, function () {
      const script = SCRIPTS[shell](listPlaces(createProgram()));
      for (const [words] of LEAVES) expect(script).to.include(words);
      const program = findProgram(shell);
      if (!program) return this.skip();
      const path = createFolder();
      writeFileSync(join(path, "script"), script);
      const { status, stderr } = spawnSync(program, ["-n", join(path, "script")], { encoding: "utf8" });
      expect(status, stderr).to.equal(0);
    });
});
