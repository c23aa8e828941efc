import { mkdtempSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type OpenAdmin, openAdmin } from "../../runtime/cli/serve/admin/admin.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import type { AdminRoute } from "../../runtime/server/admin/routes.ts";
import { toJsonReply } from "../../runtime/server/reply/reply.ts";

const TOKEN = "a-token-of-a-test-0123456789";
const ROUTES: readonly AdminRoute[] = [
  { method: "GET", path: "/figures", handle: () => toJsonReply({ sold: 1 }) },
  { method: "GET", path: "/buyers/:address", handle: ({ params }) => toJsonReply(params) },
  { method: "POST", path: "/apply", isLocal: true, handle: async ({ body }) => toJsonReply({ got: await body() }) },
];

interface Told {
  readonly status: number;
  readonly body: string;
}

/** Asks the socket. */
function ask(socketPath: string, method: string, path: string, body = ""): Promise<Told> {
  const { promise, resolve, reject } = Promise.withResolvers<Told>();
  const asked = request({ socketPath, method, path }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    response.once("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
  });
  asked.once("error", reject).end(body);
  return promise;
}

describe("the admin listener", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "payphone-admin-"));
  const open: OpenAdmin[] = [];
  const start = async (port?: number): Promise<OpenAdmin> => {
    const config = { dataDir, admin: { port, host: "127.0.0.1", token: TOKEN } };
    const admin = await openAdmin({ config, routes: ROUTES, log: silentLog });
    open.push(admin);
    return admin;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((admin) => admin.close()));
  });
  after(() => rmSync(dataDir, { recursive: true }));

  it("has a socket that its user alone can reach, and that goes with it", async () => {
    const { socket = "" } = await start();
    expect(socket).to.equal(join(dataDir, "admin.sock"));
    expect(statSync(socket).mode & 0o777).to.equal(0o600);
    expect(await ask(socket, "GET", "/figures")).to.deep.equal({ status: 200, body: '{"sold":1}' });
    expect(await ask(socket, "POST", "/apply", "now")).to.deep.equal({ status: 200, body: '{"got":"now"}' });
    expect((await ask(socket, "GET", "/apply")).status).to.equal(405);
    expect((await ask(socket, "GET", "/nothing")).status).to.equal(404);
    await open.splice(0)[0]?.close();
    expect(() => statSync(socket)).to.throw("ENOENT");
  });

  it("gives a second process of the same data directory a socket of its own", async () => {
    const [first, second] = [await start(), await start()];
    expect(second.socket).to.not.equal(first.socket);
    for (const { socket = "" } of [first, second]) expect((await ask(socket, "GET", "/figures")).status).to.equal(200);
  });

  it("listens on no port unless it is told one", async () => {
    expect((await start()).url).to.equal(undefined);
  });

  describe("on its port", () => {
    it("lets nobody in without its token", async () => {
      const { url = "" } = await start(0);
      const wrong: readonly RequestInit[] = [
        {},
        { headers: { authorization: "Bearer wrong" } },
        { headers: { cookie: "payphone_admin=wrong" } },
        { headers: { cookie: `payphone_admin=${TOKEN}` } },
      ];
      for (const init of wrong) expect((await fetch(`${url}/figures`, init)).status).to.equal(401);
      expect((await fetch(`${url}/figures?token=wrong`)).status).to.equal(401);
      const headers = { authorization: `Bearer ${TOKEN}` };
      const figures = await fetch(`${url}/figures`, { headers });
      expect(await figures.json()).to.deep.equal({ sold: 1 });
      expect(figures.headers.get("cache-control")).to.equal("no-store");
    });

    it("exchanges the token in an address for a cookie that no script can read", async () => {
      const { url = "" } = await start(0);
      const entry = await fetch(`${url}/buyers/0xA?token=${TOKEN}&days=7`, { redirect: "manual" });
      expect([entry.status, entry.headers.get("location")]).to.deep.equal([303, "/buyers/0xA?days=7"]);
      const cookie = entry.headers.get("set-cookie") ?? "";
      expect(cookie).to.include("HttpOnly").and.include("SameSite=Strict").and.not.include(TOKEN);
      const page = await fetch(`${url}/buyers/0xA`, { headers: { cookie: cookie.split(";")[0] as string } });
      expect(await page.json()).to.deep.equal({ address: "0xA" });
    });

    it("has nothing that changes the shop", async () => {
      const { url = "" } = await start(0);
      const headers = { authorization: `Bearer ${TOKEN}` };
      expect((await fetch(`${url}/apply`, { method: "POST", headers })).status).to.equal(404);
    });
  });
});
