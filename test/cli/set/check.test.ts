import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdir, symlink, truncate } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { readFolder } from "../../../runtime/cli/history/folder.ts";
import { checkDir, toFaultReport, toIdleLent } from "../../../runtime/cli/set/check.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { placeOf } from "../../../runtime/cli/set/plugins/faults.ts";
import { digestSet } from "../../../runtime/cli/set/sound-set.ts";
import { edit, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { LAUNCHER, runPayphone } from "../../support/commands/commands.ts";
import { freezeTime } from "../../support/frozen-time.ts";

const ROOT = join(import.meta.dirname, "../../..");
const CONTRACT = import.meta.resolve("../../../runtime/cli/contract/contract.ts");

describe("the check of a directory", () => {
  it("reports every fault of every file at once, in the order of the files and lines, and counts them", async () => {
    let files = edit(TOSS, "manifests/toss.yaml", "POST", "PSOT");
    files = edit(files, "manifests/toss.yaml", "title:", "titel:");
    files = edit(files, "manifests/toss.yaml", "toss.toss", "toss.flip");
    files = edit(files, "manifests/_site.yaml", "decimals: 6", "decimals: six");
    files = edit(files, "schemas/Side.json", '"heads"', "heads");
    expect(toFaultReport(await checkDir(await makeDirectory(files)))).to.equal(
      `manifests/_site.yaml:13:15 wrong-type rails[0].decimals "six": must be a whole number
manifests/toss.yaml:1:1 missing-key title: is missing
manifests/toss.yaml:2:1 unknown-key titel: no such key; did you mean "title"?
manifests/toss.yaml:4:8 bad-route route "PSOT /v1/toss": no such method; did you mean "POST"?
manifests/toss.yaml:6:10 unknown-handler handler "toss.flip": the plugin has no handler "flip"; it has toss
schemas/Side.json:1:30 syntax-error Unexpected token 'h'
6 faults in 3 files; this set is not sold until they are mended`,
    );
  });

  it("prints no control characters of a manifest, which may be a stranger's", async () => {
    const files = edit(TOSS, "manifests/toss.yaml", "title:", '"ti\\etl\\re":');
    expect(toFaultReport(await checkDir(await makeDirectory(files)))).to.include(" unknown-key ti tl e: no such key");
  });

  it("waits for no pipe, reads no file without end, and says of links that lead nowhere that they do", async () => {
    const dir = await makeDirectory(TOSS);
    spawnSync("mkfifo", ["manifests/pipe.yaml", "plugins/pipe.json", "schemas/Pipe.json"], { cwd: dir });
    await truncate(join(dir, "manifests/_site.yaml"), 3e9);
    await symlink("nowhere", join(dir, "manifests/gone.yaml"));
    const faults = (await checkDir(dir)).map(({ file, message }) => `${file} ${message}`);
    expect(faults.slice(0, 4)).to.deep.equal([
      "manifests/_site.yaml has 3000000000 bytes; 4000000 at most are read",
      "manifests/gone.yaml cannot be read (ENOENT)",
      "manifests/pipe.yaml is no file that can be read: it may never end",
      "schemas/Pipe.json is no file that can be read: it may never end",
    ]);
    expect(digestSet(dir), "not known to be sound").to.equal(undefined);
    expect(() => readFolder(dir)).to.throw(
      /3000 MB, and 256 MB at most are read; the largest is manifests\/_site.yaml/,
    );
  });

  it("reports recordings that cannot be read, too, and fails", async () => {
    const recording = { source: "x", exchanges: [{ case: "sucess", request: {}, response: {} }] };
    const file = "plugins/toss/recordings/prices/one.json";
    const dir = await makeDirectory({ ...TOSS, [file]: JSON.stringify(recording) });
    const { code, out } = await runPayphone(["check", "--dir", dir]);
    expect(code).to.equal(1);
    expect(out).to.match(/^plugins\/toss\/recordings\/prices\/one\.json: exchanges\[0\]\.case: /m);
    expect(out).not.to.contain("no faults");
  });

  it("says so when there is none", async () => {
    expect(toFaultReport(await checkDir(await makeDirectory(TOSS)))).to.equal("no faults");
  });

  it("lends plugins the variables that it is given, so that a setup that needs one can be checked", async () => {
    const strict = `import { definePlugin } from "#plugin";
export default definePlugin("toss", ({ env }) => {
  const url = new URL(env.COIN_URL);
  return { toss: () => url };
});
`;
    const needing = edit(TOSS, "manifests/toss.yaml", "tags:", "needs: [COIN_URL]\ntags:");
    const dir = await makeDirectory({ ...needing, "plugins/toss.ts": strict });
    expect(await checkDir(dir, { COIN_URL: "https://example.com" })).to.deep.equal([]);
    expect((await checkDir(dir)).map(({ code }) => code)).to.deep.equal(["plugin-failed"]);
  });

  for (const [what, text] of [
    ["import", 'process.emit("hangs");\nawait new Promise(() => {});\nexport default undefined;\n'],
    [
      "setup",
      `import { definePlugin } from "#plugin";
export default definePlugin("toss", () => {
  process.emit("hangs");
  return new Promise(() => {});
});
`,
    ],
  ] as const)
    it(`names a plugin whose ${what} never ends`, async () => {
      const dir = await makeDirectory({ ...TOSS, "plugins/toss.ts": text });
      const time = freezeTime();
      try {
        const hangs = once(process, "hangs");
        const checking = checkDir(dir);
        await hangs;
        await time.pass(31_000);
        expect(toFaultReport(await checking)).to.match(
          new RegExp(`^manifests/toss.yaml:6:10 plugin-failed .*its ${what} has not ended after 30 seconds$`, "m"),
        );
      } finally {
        time.thaw();
      }
    });

  it("places no fault of a plugin in payphone itself, which may be in the shop's folder", () => {
    const late = new Error("its import has not ended");
    const at = (...files: readonly string[]): string[] => files.map((file) => `    at ${join(ROOT, file)}:7:9`);
    const frames = at("runtime/cli/set/plugins/load.ts", "runtime/core/time/deadline.ts");
    late.stack = [late.message, ...frames].join("\n");
    expect(placeOf(late, ROOT)).to.equal(undefined);
    late.stack = [late.message, ...frames, ...at("node_modules/dice/index.js")].join("\n");
    expect(placeOf(late, ROOT)).to.deep.equal({ file: "node_modules/dice/index.js", line: 7, column: 9 });
  });

  it("runs the examples, says where a plugin has thrown an error, and compares them with what comes out", async () => {
    const text = (TOSS["plugins/toss.ts"] as string).replace(
      /return {.*/s,
      `if (coins === 2) throw new Error("no coins");
    return { sides: ["heads", "heads", "heads"] };
  },
}));
`,
    );
    const more = "\n  - input: { coins: 3 }\n    output: { sides: [heads, tails, heads] }\n";
    const manifest = `${TOSS["manifests/toss.yaml"]?.trimEnd()}${more}`;
    const dir = await makeDirectory({ ...TOSS, "manifests/toss.yaml": manifest, "plugins/toss.ts": text });
    const { code, out } = await runPayphone(["test", "--dir", dir]);
    expect(code).to.equal(1);
    expect(out).to.match(/^fails example 1 of toss\n {6}no coins \(plugins\/toss\.ts:6\)\nfails example 2 of toss\n/);
    expect(out).to.include('sides[1] is "heads", but the example shows "tails"\n');
    expect(out).to.match(/^0 of 2 examples came true\n$/m);
  });

  it("ends although a plugin has left a timer running", async () => {
    const text = `${TOSS["plugins/toss.ts"]}setInterval(() => {}, 1000);\n`;
    const dir = await makeDirectory({ ...TOSS, "plugins/toss.ts": text });
    for (const command of ["check", "test"]) {
      const args = [LAUNCHER, command, "--dir", dir];
      const { status, signal, stdout } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
      expect([status, signal], stdout).to.deep.equal([0, null]);
    }
  });

  it("fails when a plugin leaves a rejected promise behind", async () => {
    const text = `Promise.reject(new Error("nobody waits"));\n${TOSS["plugins/toss.ts"]}`;
    const dir = await makeDirectory({ ...TOSS, "plugins/toss.ts": text });
    const { code, out, err } = await runPayphone(["check", "--dir", dir]);
    const fault = "plugins/toss.ts:1:16 plugin-failed a promise that nothing catches is rejected: nobody waits";
    expect([code, (out + err).split("\n")[0]]).to.deep.equal([1, fault]);
  });

  it("fails when a plugin leaves a rejected promise whose error does not name it", async () => {
    const left =
      'import { readFile } from "node:fs/promises";\nreadFile("/nowhere");\nawait readFile(import.meta.filename);\n';
    const dir = await makeDirectory({ ...TOSS, "plugins/toss.ts": `${left}${TOSS["plugins/toss.ts"]}` });
    const { code, out } = await runPayphone(["check", "--dir", dir]);
    const fault = 'plugin-failed handler "toss.toss": a promise that nothing catches is rejected: ENOENT';
    expect(code).to.equal(1);
    expect(out).to.include(`manifests/toss.yaml:6:10 ${fault}`);
  });

  it("names the example whose handler leaves a rejected promise behind, and runs the others", async () => {
    const left = 'if (coins === 2) void Promise.reject(new Error("nobody waits"));\n    return {';
    const text = (TOSS["plugins/toss.ts"] as string).replace("return {", left);
    const manifest = `${TOSS["manifests/toss.yaml"]?.trimEnd()}\n  - input: { coins: 3 }\n`;
    const dir = await makeDirectory({ ...TOSS, "manifests/toss.yaml": manifest, "plugins/toss.ts": text });
    const { code, out, err } = await runPayphone(["test", "--dir", dir]);
    const complaint = "a promise that nothing catches is rejected: nobody waits (plugins/toss.ts:6)";
    const lines = [
      `fails example 1 of toss\n      ${complaint}`,
      "ok    example 2 of toss",
      "1 of 2 examples came true\n",
    ];
    expect([code, out, err]).to.deep.equal([1, lines.join("\n"), ""]);
  });

  it("has its examples run by mocha, too, which need not give its functions, and has little time by default", async () => {
    const dir = await makeDirectory({
      ...TOSS,
      "some.test.mjs": `import { contractTests } from ${JSON.stringify(CONTRACT)};
        contractTests({ dir: import.meta.dirname });`,
    });
    const mocha = join(import.meta.dirname, "../../../node_modules/mocha/bin/mocha.js");
    const options = ["--no-config", "--no-package", "--reporter", "json", "--timeout", "1"]; // A busy machine's 2 seconds.
    const args = [mocha, ...options, join(dir, "some.test.mjs")];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
    expect(status, stdout + stderr).to.equal(0);
    expect(stdout).to.include('"title": "has example 1 of toss come true"').and.to.include('"failures": 0');
  });

  it("reports a plugin that would end the process, and fails", async () => {
    const text = TOSS["plugins/toss.ts"] as string;
    const dir = await makeDirectory({ ...TOSS, "plugins/toss.ts": `${text}process.exit(0);\n` });
    const { code, out } = await runPayphone(["check", "--dir", dir]);
    const fault = "plugin-failed process.exit would end the whole shop: throw an error instead";
    expect([code, out.split("\n")[0]]).to.deep.equal([1, `plugins/toss.ts:9:9 ${fault}`]);
  });

  it("fails when a plugin ends the process", async () => {
    const text = TOSS["plugins/toss.ts"] as string;
    const end = "setTimeout(process.exit, 0, 0);"; // No code of the plugin is seen to call it.
    const atOnce = await makeDirectory({
      ...TOSS,
      "plugins/toss.ts": `${end}\nawait new Promise(() => {});\n${text}`,
    });
    const inCall = await makeDirectory({
      ...TOSS,
      "plugins/toss.ts": text.replace("return {", `${end} return new Promise(() => {}); return {`),
    });
    const tests = await makeDirectory({
      "some.test.mjs": `import { after, before, describe, it } from "node:test";
        const { contractTests } = await import(${JSON.stringify(CONTRACT)});
        contractTests({ describe, it, before, after, dir: process.env.SHOP });`,
    });
    const TMPDIR = await makeDirectory({ "some.txt": "" });
    for (const [args, SHOP] of [
      [[LAUNCHER, "check", "--dir", atOnce]],
      [[LAUNCHER, "test", "--dir", inCall]],
      [[join(tests, "some.test.mjs")], atOnce],
    ] as const) {
      const { status, stderr } = spawnSync(process.execPath, args, {
        env: { ...process.env, SHOP, TMPDIR },
        encoding: "utf8",
        timeout: 60_000,
      });
      expect([status, stderr]).to.deep.equal([
        1,
        "payphone: a plugin has ended the process before everything was done\n",
      ]);
      expect((await readdir(TMPDIR)).filter((name) => name.startsWith("payphone-"))).to.deep.equal([]);
    }
  });

  it("lends a host that can be kept and awaited, but not used", async () => {
    const { treasury, evm, site } = toIdleLent(await loadSet(await makeDirectory(TOSS))).host;
    expect(site.name).to.equal("corner-shop");
    expect(await Promise.resolve(treasury)).to.equal(treasury);
    expect(() => evm.transaction("0x", AbortSignal.abort())).to.throw("evm.transaction() was called during setup");
  });
});
