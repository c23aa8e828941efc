import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { json as readJson, text } from "node:stream/consumers";
import { expect } from "chai";
import { findProcesses } from "../../../runtime/cli/operate/ask.ts";
import { apply, readHistory, rollBack } from "../../../runtime/cli/operate/changes.ts";
import type { StatusReport } from "../../../runtime/cli/serve/admin/routes.ts";
import type { PaymentRequired } from "../../../runtime/core/x402/x402.ts";
import { operate } from "../../attacks/support/operate.ts";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { isAlive, untilGone } from "../../sandbox/sandbox-process.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { LAUNCHER, runPayphone } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { findFreePort } from "../../support/free-port.ts";
import { INHERITED } from "../../support/inherited.ts";
import { ADMIN_TOKEN } from "../../support/sellers/operator.ts";
import { type Seller, startSeller } from "../../support/sellers/seller.ts";
import { json, type PayingFetch, stockFetch } from "../../support/sellers/stock-buyer.ts";

/** A service that waits until a file is there. */
const toGate = (file: string): string => `import { existsSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { definePlugin } from "#plugin";

export default definePlugin("toss", () => ({
  async toss({ coins }) {
    if (coins === 9) writeFileSync("${file}.begun", String(process.pid));
    while (coins === 9 && !existsSync("${file}")) await setTimeout(20);
    return { sides: Array.from({ length: coins }, () => "heads") };
  },
}));
`;

describe("serve --workers", () => {
  let sandbox: TestSandbox;
  let seller: Seller;
  let pay: PayingFetch;
  let dir: string;
  let adminPort: number;
  const data = createFolder();
  const gate = join(data, "gate");
  const here = createFolder();

  before(async () => {
    sandbox = await sharedSandbox();
    pay = await stockFetch(sandbox, "base");
    dir = await makeDirectory({ ...toShop([]), "plugins/toss.ts": toGate(gate) });
  });
  const start = async (count: number): Promise<void> => {
    adminPort = await findFreePort();
    const env = { ADMIN_PORT: `${adminPort}`, ADMIN_TOKEN };
    seller = await startSeller({ sandbox, dataDir: data, dir, cwd: here, args: ["--workers", `${count}`], env });
  };
  const buy = (coins: number): Promise<Response> => pay(`${seller.url}/v1/toss`, json({ coins }));

  const isUp = ({ state }: { readonly state: string }): boolean => state === "up";

  const sockets = (): string[] => readdirSync(data).filter((name) => name.endsWith(".sock"));
  const children = (): string[] =>
    readFileSync(`/proc/${seller.pid}/task/${seller.pid}/children`, "utf8").trim().split(" ");
  /** Waits until a slow call has begun. @returns the worker that has it */
  const begun = (): Promise<string> =>
    eventually(() => existsSync(`${gate}.begun`) && readFileSync(`${gate}.begun`, "utf8")) as Promise<string>;

  /** What the workers say at their sockets; those that are dead say nothing. */
  async function workers(): Promise<StatusReport[]> {
    const asked = sockets().map((name) => statusAt(join(data, name)).catch(() => undefined));
    return (await Promise.all(asked)).flatMap((status) => status ?? []);
  }

  it("sells in so many processes, each of which an operator reaches, and says what it sells", async () => {
    await start(2);
    const running = await eventually(workers, (all) => all.flatMap(({ ready }) => ready.rails).every(isUp));
    expect(new Set(running.map(({ pid }) => pid)).size).to.equal(2);
    expect(running.map(({ url }) => url)).to.deep.equal([seller.url, seller.url]);
    expect((await Promise.all(Array.from({ length: 8 }, () => buy(1)))).map(({ status }) => status)).to.deep.equal(
      Array(8).fill(200),
    );
    const output = seller.output();
    expect(output).to.match(/Corner shop sells for real money at http:\/\/127\.0\.0\.1/);
    expect(output).to.match(/POST \/v1\/toss +\$0\.01 +Coin toss/);
    expect(output).to.match(/USDC on Base +0x\w{40} +settled by remote +(?:up|not asked yet|down: .+)$/m);
    expect(output.match(/^2 workers$/gm), output).to.have.length(1);
    expect(output.match(/^listening on /gm), output).to.have.length(1);
    const metrics = await Promise.all((await findProcesses(data)).map((socket) => ask(socket, "/metrics").then(text)));
    const named = metrics.map((each) => /^payphone_rail_up\{rail="base",worker="(\d+)"\} 1$/m.exec(each)?.[1]);
    expect(named, "who scrapes one of them knows which").to.have.members(["1", "2"]);
    const prometheus = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const scraped = new Set<string | undefined>();
    for (let scrape = 0; scrape < 4; scrape += 1) {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      request({ port: adminPort, path: "/metrics", agent: prometheus, headers }, resolve).once("error", reject).end();
      scraped.add(/worker="(\d+)"/.exec(await text(await promise))?.[1]);
    }
    prometheus.destroy();
    expect(scraped, "who keeps connections scrapes one after the other").to.have.keys(["1", "2"]);
  });

  it("goes on selling when a worker dies, and replaces it by one that sells the same, whatever is in the folder", async () => {
    const [victim] = await workers();
    writeFileSync(
      join(dir, "manifests/toss.yaml"),
      readFileSync(join(dir, "manifests/toss.yaml"), "utf8").replace("0.01", "0.50"),
    );
    rmSync(here, { recursive: true }); // As a new release takes the place of the folder.
    mkdirSync(here);
    process.kill(victim?.pid ?? 0, "SIGKILL");
    expect(
      (
        await eventually(
          () => buy(1).catch(() => Response.error()),
          ({ ok }) => ok,
        )
      ).status,
    ).to.equal(200);
    const now = await eventually(workers, (running) => running.length === 2);
    expect(now.map(({ pid }) => pid)).not.to.include(victim?.pid);
    expect(new Set(now.map(({ set }) => set)).size).to.equal(1);
    for (let at = 0; at < 6; at += 1) {
      const { accepts } = (await (await fetch(`${seller.url}/v1/toss`, json({}))).json()) as PaymentRequired;
      expect(accepts.map(({ amount }) => amount)).to.deep.equal(["10000"]);
    }
    const said = await eventually(seller.output, (text) => text.includes('"worker.replaced"'));
    expect(said).to.include('"worker.died"');
  });

  it("sells what is in the folder in each of them, once a signal says so", async () => {
    const before = await workers();
    const parent = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${before[0]?.pid}/status`, "utf8"))?.[1]);
    process.kill(parent, "SIGHUP");
    const sets = async (): Promise<Set<string>> => new Set((await workers()).map(({ set }) => set));
    const isOther = (now: Set<string>): boolean => now.size === 1 && !now.has(before[0]?.set ?? "");
    await eventually(sets, isOther);
    const { accepts } = (await (await fetch(`${seller.url}/v1/toss`, json({}))).json()) as PaymentRequired;
    expect(accepts.map(({ amount }) => amount)).to.deep.equal(["500000"]);
  });

  const amounts = async (): Promise<readonly (string | undefined)[]> => {
    const { accepts } = (await (await fetch(`${seller.url}/v1/toss`, json({}))).json()) as PaymentRequired;
    return accepts.map(({ amount }) => amount);
  };
  const oneSet = (running: readonly StatusReport[]): boolean =>
    running.length === 2 && new Set(running.map(({ set }) => set)).size === 1;

  it("sells what is applied in each of them, and in one that takes the place of a dead one meanwhile", async () => {
    const [, last] = await findProcesses(data);
    const { pid } = await operate.status(last ?? "");
    const file = join(dir, "manifests/toss.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("0.50", "0.40"));
    const applying = apply({ dataDir: data });
    process.kill(pid, "SIGKILL"); // It is told last.
    const [applied] = await applying;
    const now = await eventually(
      workers,
      (running) => oneSet(running) && running.every((one) => one.pid !== pid && one.ready.status === "ready"),
    );
    expect(now.map(({ set }) => set)).to.deep.equal([applied?.to, applied?.to]);
    for (let at = 0; at < 4; at += 1) expect(await amounts()).to.deep.equal(["400000"]);
    expect((await readHistory({ dataDir: data })).map(({ what }) => what)).to.deep.equal(["start", "apply", "apply"]);
  });

  it("goes back by as many sets in each of them", async () => {
    expect(await rollBack({ dataDir: data }, 2)).to.have.length(2);
    expect((await workers()).every(({ ready }) => ready.status === "ready")).to.equal(true);
    expect(oneSet(await workers())).to.equal(true);
    for (let at = 0; at < 4; at += 1) expect(await amounts()).to.deep.equal(["10000"]);
  });

  it("ends in order, also while a worker starts in the place of a dead one: the call in flight is answered", async () => {
    const running = await workers();
    const slow = buy(9);
    const busy = await begun();
    const { pid: victim = 0 } = running.find(({ pid }) => `${pid}` !== busy) ?? {};
    process.kill(victim, "SIGKILL");
    await eventually(() => children().length === 2 && !children().includes(`${victim}`)); // It is not ready yet.
    expect(sockets(), "none of the dead one").not.to.include(`admin-${victim}.sock`);
    const stopped = seller.stop();
    // A connection that is made while the last worker stops listening may hang until the processes are gone.
    await eventually(() =>
      fetch(`${seller.url}/health`, { signal: AbortSignal.timeout(5000) }).then(
        () => false,
        () => true,
      ),
    );
    writeFileSync(gate, "");
    expect((await slow).status).to.equal(200);
    expect(await stopped).to.equal(0);
    expect(seller.output()).not.to.include('"worker.not-started"');
    for (const { pid } of running) await untilGone(pid);
    expect(sockets()).to.deep.equal([]);
  });

  it("ends at once when it is interrupted again, and says that it was not in order", async () => {
    rmSync(gate, { force: true });
    rmSync(`${gate}.begun`, { force: true });
    await start(1);
    const running = await workers();
    const cut = buy(9).catch((error: unknown) => error);
    await begun();
    // None while it ends by itself: Node no longer listens then, and a signal ends it.
    await eventually(() => {
      const isWorking = running.some(({ pid }) => isAlive(pid));
      if (isWorking) process.kill(seller.pid, "SIGINT");
      return !isWorking;
    });
    await untilGone(seller.pid);
    expect(await seller.stop()).to.equal(1);
    expect(await cut).to.be.an("error");
    for (const { pid } of running) await untilGone(pid);
  });

  it("leaves no worker behind when its own process is killed: the call in flight is answered", async () => {
    rmSync(`${gate}.begun`);
    await start(1);
    const running = await workers();
    const slow = buy(9);
    await begun();
    await seller.kill();
    writeFileSync(gate, "");
    expect((await slow).status).to.equal(200);
    for (const { pid } of running) await untilGone(pid);
  });

  it("says once what is missing, and refuses a count that is none", async () => {
    const env = { ...INHERITED, PAYPHONE_DATA_DIR: data };
    const args = ["serve", "--dir", dir, "--workers"];
    const lacking = spawnSync(process.execPath, [LAUNCHER, ...args, "2"], { env, encoding: "utf8", timeout: 60_000 });
    const said = lacking.stdout + lacking.stderr;
    expect(lacking.status, said).to.equal(2);
    expect(said.match(/PUBLIC_BASE_URL is not set/g)).to.have.length(1);
    const { code, err } = await runPayphone([...args, "0"]);
    expect(code).to.equal(2);
    expect(err).to.include("It must be a number from 1 to 64, or auto.");
  });
});

const statusAt = async (socketPath: string): Promise<StatusReport> =>
  (await readJson(await ask(socketPath, "/status"))) as StatusReport;

function ask(socketPath: string, path: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ socketPath, path }, resolve).once("error", reject).end();
  return promise;
}
