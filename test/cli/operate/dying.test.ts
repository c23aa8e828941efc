import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect } from "chai";
import { askProcess } from "../../../runtime/cli/operate/ask.ts";
import { apply, rollBack } from "../../../runtime/cli/operate/changes.ts";
import { readStatus } from "../../../runtime/cli/operate/status.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";

describe("an order to several processes, of which one dies or refuses it", () => {
  let data: string;
  const servers: Server[] = [];
  /** What each process was told, by its socket. */
  let told: string[];
  beforeEach(() => {
    data = createFolder();
    told = [];
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  /** The socket of a process, in whose place there is another one as soon as it has died. @param fault its answer */
  async function open(name: string, deaths: number, fault?: string): Promise<void> {
    let left = deaths;
    const server = createServer(async (request, response) => {
      const { to = "" } = request.method === "GET" ? {} : ((await json(request)) as { readonly to?: string });
      told.push(`${name} ${request.url} ${to}`.trim());
      if (left-- > 0) request.socket.destroy();
      else if (fault) response.writeHead(500).end(fault);
      else response.end(JSON.stringify({ from: "old", to: "new", changes: [], pardoned: 2 }));
    });
    servers.push(server.listen(join(data, `${name}.sock`)));
    await once(server, "listening");
  }
  const messageOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "",
      ({ message }: Error) => message,
    );

  it("is given to the one in its place", async () => {
    await open("admin-1", 0);
    await open("admin-2", 1);
    expect(await apply({ dataDir: data })).to.have.length(2);
    expect(told).to.deep.equal(["admin-1 /apply", "admin-2 /apply", "admin-2 /apply"]);
    told.length = 0;
    expect(await rollBack({ dataDir: data }, 1)).to.have.length(2);
    expect(told).to.deep.equal(["admin-1 /rollback", "admin-2 /rollback new"]);
  });

  it("of status or trust is answered by the others, and the one that died has a line", async () => {
    await open("admin-1", 0);
    const { answers, silent } = await readStatus({ dataDir: data });
    expect([answers.length, silent]).to.deep.equal([1, []]);
    await open("admin-2", 1);
    const line = `one process is missing here: ${join(data, "admin-2.sock")}: socket hang up`;
    expect((await readStatus({ dataDir: data })).silent).to.deep.equal([line]);
    await open("admin-3", 1, "no such facilitator");
    const trusted = await runPayphone(["trust", "first"], { PAYPHONE_DATA_DIR: data });
    expect(trusted).to.deep.include({ out: "first is trusted again on 2 networks\n", code: 0 });
    expect(trusted.err).to.equal(`payphone: ${line.replace("admin-2", "admin-3")}\n`);
    const refused = await runPayphone(["trust", "second"], { PAYPHONE_DATA_DIR: data });
    expect(refused.err).to.equal("payphone: one process is missing here: no such facilitator\n");
  });

  it("is said to be one to a sandbox, where no server runs", async () => {
    mkdirSync(join(data, "sandbox"));
    await open("sandbox/admin", 0);
    for (const order of ["rollback", "apply", "diff"]) {
      const { err, code } = await runPayphone([order], { PAYPHONE_DATA_DIR: data });
      expect([err, code], order).to.deep.equal(["The sandbox's: play money.\n", 0]);
    }
    await open("admin", 0);
    expect((await runPayphone(["rollback"], { PAYPHONE_DATA_DIR: data })).err).to.equal("");
  });

  it("of status fails when none answers", async () => {
    await open("admin-1", 1);
    expect(await messageOf(readStatus({ dataDir: data }))).to.include("admin-1.sock: socket hang up");
  });

  it("passes over one that has ended before it was told", async () => {
    await open("admin-1", 0);
    await open("admin-2", 0);
    servers[0]?.once("request", () => servers[1]?.close());
    expect(await apply({ dataDir: data })).to.have.length(1);
  });

  it("tells what one says that refuses it, and what the others sell by then", async () => {
    await open("admin-1", 0);
    await open("admin-2", 0, "out of memory");
    expect(await messageOf(apply({ dataDir: data }))).to.equal(
      "out of memory\n1 process sells new now, and this one does not: run the command again",
    );
    expect(await messageOf(rollBack({ dataDir: data }, 1)), "which would then go back by two sets").to.equal(
      "out of memory\n1 process sells new now, and this one does not: restart it, since this command given again would go further back",
    );
  });

  it("may still be obeyed by one that did not answer in time, which is said of nothing that only asks", async () => {
    const socket = join(data, "admin-1.sock");
    servers.push(createServer(() => {}).listen(socket));
    const ask = (method: "GET" | "POST") => messageOf(askProcess(socket, method, "/apply", undefined, 50));
    const late = `${socket}: no answer within 0.05 s`;
    expect(await ask("GET")).to.equal(late);
    expect(await ask("POST")).to.equal(
      `${late}. It may still do what it was told: ask "payphone status", and restart it if it does not answer`,
    );
  });

  it("is not repeated where it may have gone back by some sets already", async () => {
    await open("admin-1", 1);
    expect(await messageOf(rollBack({ dataDir: data }, 1))).to.include("admin-1.sock: socket hang up");
    expect(told).to.deep.equal(["admin-1 /rollback"]);
  });

  it("is said to have ended the last process, and not that none was there", async () => {
    await open("admin", 1);
    servers[0]?.once("request", () => servers[0]?.close());
    expect(await messageOf(apply({ dataDir: data }))).to.equal(
      "No process runs any more: it has ended since it was told, and its log says why",
    );
  });

  it("ends when those in its place die of it, too", async () => {
    await open("admin-1", 0);
    await open("admin-2", Number.POSITIVE_INFINITY);
    const message = await messageOf(apply({ dataDir: data }));
    expect(message).to.match(
      /^Processes die as soon as they are told: .*\n1 process sells new now, and this one does not/,
    );
  });
});
