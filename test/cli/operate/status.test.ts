import { chmod, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { findProcesses } from "../../../runtime/cli/operate/ask.ts";
import { toStatusText } from "../../../runtime/cli/operate/status.ts";
import { openAdmin } from "../../../runtime/cli/serve/admin/admin.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { openOperatedShop } from "../../support/sellers/operator.ts";
import { startRedis } from "../../support/store/redis.ts";

/** What a facilitator has reported as a transaction: it clears the line, and turns the text round. */
const EVIL = "0x\u001b[2K\r\u202eall is well\nstate    ok";
const REPORT = {
  pid: 1,
  url: "http://127.0.0.1:4021",
  set: "0123456789abcdef",
  modules: 0,
  modules_at_start: 0,
  memory_bytes: 1,
  jobs: {},
  processes: [],
  ready: {
    status: "unavailable",
    store: "down",
    store_reason: "The store takes no writes: database or disk is full",
    rails: [{ id: "base", network: "eip155:8453", state: "down", reason: `It is down: ${EVIL}` }],
    distrusted: [{ facilitator: "first", reason: `The facilitator first reported the settlement ${EVIL}` }],
    upstreams: [{ id: "prices", state: "down", reason: EVIL }],
    services: [],
    warnings: [EVIL],
  },
};

describe("payphone status", () => {
  const data = createFolder();
  let server: Server;
  before((done) => {
    server = createServer((_request, response) => response.end(JSON.stringify(REPORT)));
    server.listen(join(data, "admin.sock"), done);
  });
  after(() => server.close());

  it("shows what facilitators and nodes have said as text, which no terminal obeys", async () => {
    const { out, code } = await runPayphone(["status"], { PAYPHONE_DATA_DIR: data });
    expect(code).to.equal(0);
    expect(out).to.match(/^warning {2}The facilitator first reported the settlement 0x .*: payphone trust first$/m);
    expect(out.replaceAll("\n", "")).not.to.match(/[\p{Cf}\p{Cc}]/u);
    expect(out.match(/^state/gm)).to.have.length(1);
  });

  it("does not say that no process runs where the path of its socket is too long for one", async () => {
    const place = { PAYPHONE_DATA_DIR: join(data, "deep".repeat(30)) };
    const why = "the path of its socket is too long, so set a shorter PAYPHONE_DATA_DIR";
    const { err, code } = await runPayphone(["status"], place);
    expect([code, err]).to.deep.equal([
      1,
      `payphone: No payphone runs on ${place.PAYPHONE_DATA_DIR} on this machine, or none that can be asked: ${why}\n`,
    ]);
  });

  it("says whose command it is to give where another user may not open the socket", async () => {
    const socket = join(data, "admin.sock");
    await Promise.all([chmod(data, 0o755), chmod(socket, 0)]);
    const found = await asNobody(() => findProcesses(data)).catch(String);
    expect(found).to.equal(`Problem: ${socket} cannot be opened (EACCES): give the command as the server's user`);
    await chmod(socket, 0o600);
  });

  it("says of each process what is not so in all of them", async () => {
    const rails = [{ id: "base", network: "eip155:8453", state: "up" }];
    const ready = { ...REPORT.ready, status: "ready", store_reason: undefined, rails, distrusted: [], upstreams: [] };
    const other = createServer((_request, response) =>
      response.end(JSON.stringify({ ...REPORT, pid: 2, ready: { ...ready, warnings: [EVIL, "The clock is wrong"] } })),
    );
    await new Promise<void>((done) => other.listen(join(data, "admin-2.sock"), done));
    const { out } = await runPayphone(["status"], { PAYPHONE_DATA_DIR: data });
    other.close();
    expect(out).to.match(/^state {4}unavailable: The store takes no writes: .* \(process 1\)$/m);
    expect(out).to.match(/^state {4}ready \(process 2\)$/m);
    expect(out).to.match(/^rail {5}base \(eip155:8453\) down: .* \(process 1\)$/m);
    expect(out).to.match(/^rail {5}base \(eip155:8453\) up \(process 2\)$/m);
    expect(out).to.match(/^source {3}prices down: .* \(process 1\)$/m);
    expect(out).to.match(/^warning {2}The clock is wrong \(process 2\)$/m);
    expect(out.match(/^warning {2}0x .*[^)]$/gm), "what is so in both is said once").to.have.length(1);
  });

  it("shows a process whose clock is ahead as one that has just begun", async () => {
    const since = new Date(Date.now() + 200_000).toISOString();
    const one = { host: "a", pid: 1, url: REPORT.url, set: REPORT.set, version: "0.3.0", since };
    expect(toStatusText([{ ...REPORT, processes: [one] } as never])).to.match(/^a\/1 .* up 0 s /m);
  });

  it("says of its own machine's processes alone how much memory they take, also where ids are the same", () => {
    const here = {
      host: "a",
      pid: 1,
      url: REPORT.url,
      set: REPORT.set,
      version: "0.3.0",
      since: new Date().toISOString(),
    };
    const there = { ...here, host: "b", url: "http://10.0.0.2:4021" };
    const text = toStatusText([{ ...REPORT, memory_bytes: 5e6, processes: [here, there] } as never]);
    expect(text)
      .to.match(/^a\/1 .* 5 MB$/m)
      .and.not.match(/^b\/1 .* MB$/m);
  });

  it("prints the token that lets in now, also where the next start is to have another one", async () => {
    const dataDir = createFolder();
    const admin = { port: 0, host: "127.0.0.1", token: undefined, login: undefined };
    const routes = [{ method: "GET", path: "/", handle: () => ({ status: 200, headers: [] }) }] as const;
    const opened = await openAdmin({ config: { dataDir, admin }, routes, log: silentLog });
    await rm(join(dataDir, "admin.token"));
    const { out } = await runPayphone(["status", "--token"], { PAYPHONE_DATA_DIR: dataDir });
    const answer = await fetch(`${opened.url}/`, { headers: { authorization: `Bearer ${out.trim()}` } });
    await opened.close();
    expect(answer.status).to.equal(200);
  });

  it("says why nothing can be sold", async () => {
    const { out } = await runPayphone(["status"], { PAYPHONE_DATA_DIR: data });
    expect(out).to.match(/^state {4}unavailable: The store takes no writes: database or disk is full$/m);
  });
});

/** Root may open everything. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  return work().finally(() => process.seteuid?.(0));
}

withRedis.describe("payphone status of a shop whose Redis is away", () => {
  it("says so, and how the rest of the shop is: the seller's page names this command", async () => {
    const redis = await startRedis();
    const { dataDir, close } = await openOperatedShop(undefined, { REDIS_URL: redis.url });
    await redis.stop();
    const { out } = await eventually(
      () => runPayphone(["status"], { PAYPHONE_DATA_DIR: dataDir }),
      (ran) => ran.out.includes("Redis cannot be reached"),
    );
    expect(out).to.match(/^state {4}unavailable: Redis cannot be reached: ECONNREFUSED$/m);
    expect(out).to.match(/^rail {5}base /m);
    await close();
  });
});
