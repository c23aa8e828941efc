import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import { INHERITED } from "../support/inherited.ts";

const DRIVERS = join(import.meta.dirname, "../../runtime/drivers");

/** Uses each driver for the first time while no descriptor is left, and again after that; prints both outcomes. */
const PROGRAM = `
import { closeSync, openSync } from "node:fs";
import { createEvmClient } from "./evm/client.ts";
import { createHttpFacilitator } from "./facilitator/http.ts";
import { createGuardedFetch } from "./http/guarded-fetch.ts";
import { createSolanaClient } from "./solana/client.ts";
import { createTreasury } from "./treasury.ts";
import { createHttpTransport } from "./upstream/transport.ts";

const never = new AbortController().signal;
const url = "http://127.0.0.1:2"; // Nothing listens there.
const evm = createEvmClient({ url, chainId: 1, retries: 0 });
const solana = createSolanaClient({ url, network: "solana:1", retries: 0 });
const facilitator = createHttpFacilitator({ url });
const web = createGuardedFetch({ isAllowed: () => true });
const transport = createHttpTransport();
const uses = {
  treasury: createTreasury({ evmKey: "0x" + "4c".repeat(32), solanaKey: undefined }).evmAddress,
  evm: () => evm.ask(async () => {}),
  solana: () => solana.ask(async () => {}),
  facilitator: () => facilitator.supported(never),
  web: () => web.fetch(url, { timeoutMs: 1000, maxBytes: 1 }),
  transport: () => transport.send({ upstream: "x", method: "GET", url: new URL(url), headers: {}, signal: never }),
};
const hogs = [];
const hog = () => {
  try {
    for (;;) hogs.push(openSync("/dev/null"));
  } catch {}
};
const wants = (error) => /too many open files/.test(error?.message) || (error?.cause && wants(error.cause));
const lacking = [];
for (const again of [false, true]) {
  if (again) for (const one of hogs) closeSync(one);
  else hog();
  for (const [name, use] of Object.entries(uses))
    await use().then(() => {}, (error) => wants(error) && lacking.push(name + (again ? " again" : "")));
}
await facilitator.close();
await web.close();
await transport.close();
console.log(JSON.stringify(lacking));
`;

describe("a process without file descriptors", () => {
  it("loads later what it could not load then: keys, clients of chains and of facilitators, and sources", () => {
    const node = [process.execPath, "--input-type=module-typescript", "--eval", PROGRAM];
    const run = spawnSync("sh", ["-c", 'ulimit -n 64; exec "$@"', "sh", ...node], {
      cwd: DRIVERS,
      env: { ...INHERITED, NODE_DISABLE_COMPILE_CACHE: "1" },
      encoding: "utf8",
    });
    expect(run.stderr).to.equal("");
    const all = ["treasury", "evm", "solana", "facilitator", "web", "transport"];
    expect(JSON.parse(run.stdout)).to.deep.equal(all);
  });
});
