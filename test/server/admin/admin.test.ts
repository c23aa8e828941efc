import { once } from "node:events";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { findProcesses } from "../../../runtime/cli/operate/ask.ts";
import { toSocketPath } from "../../../runtime/cli/process/sockets.ts";
import { type OpenAdmin, openAdmin } from "../../../runtime/cli/serve/admin/admin.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { LoginHeader } from "../../../runtime/server/admin/login-header.ts";
import type { AdminRoute } from "../../../runtime/server/admin/routes.ts";
import { toJsonReply } from "../../../runtime/server/reply/reply.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { findFreePort } from "../../support/free-port.ts";

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
  const dataDir = createFolder();
  const open: OpenAdmin[] = [];
  const start = async (port?: number, login?: LoginHeader, host = "127.0.0.1"): Promise<OpenAdmin> => {
    const config = { dataDir, admin: { port, host, token: TOKEN, login } };
    const admin = await openAdmin({ config, routes: ROUTES, log: silentLog });
    open.push(admin);
    return admin;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((admin) => admin.close()));
  });

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

  it("tells its token on the socket alone, so that commands print it beside a sandbox and without its environment", async () => {
    const sandboxDir = join(dataDir, "sandbox");
    mkdirSync(sandboxDir);
    const config = { dataDir: sandboxDir, admin: { port: 0, host: "127.0.0.1", token: TOKEN, login: undefined } };
    const admin = await openAdmin({ config, routes: ROUTES, log: silentLog });
    open.push(admin);
    const { out } = await runPayphone(["status", "--token"], { PAYPHONE_DATA_DIR: dataDir });
    expect(out).to.equal(`${TOKEN}\n`);
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect((await fetch(`${admin.url}/token`, { headers })).status).to.equal(404);
  });

  it("has its socket and its token on a machine where nothing was kept yet, as at a first start with Redis", async () => {
    const fresh = join(dataDir, "shop", ".payphone");
    const admin = { port: 0, host: "127.0.0.1", token: undefined, login: undefined };
    const opened = await openAdmin({ config: { dataDir: fresh, admin }, routes: ROUTES, log: silentLog });
    open.push(opened);
    expect(opened.socket).to.equal(join(fresh, "admin.sock"));
    expect(statSync(fresh).mode & 0o777).to.equal(0o700);
    expect((await ask(opened.socket ?? "", "GET", "/figures")).status).to.equal(200);
    const { out } = await runPayphone(["status", "--token"], { PAYPHONE_DATA_DIR: fresh });
    expect(out).to.match(/^[\w-]{40,}\n$/);
  });

  it("gives each process of the same data directory a socket of its own, also where containers give them the same id", async () => {
    const sockets = [await start(), await start(), await start()].map(({ socket = "" }) => socket);
    expect(new Set(sockets).size).to.equal(3);
    for (const socket of sockets) expect((await ask(socket, "GET", "/figures")).status).to.equal(200);
    expect(await findProcesses(dataDir)).to.have.members(sockets.map(toSocketPath));
  });

  it("gives each its own also when they start at once, and where a dead process has left one", async () => {
    for (const left of [false, true]) {
      if (left) writeFileSync(join(dataDir, "admin.sock"), "");
      const sockets = (await Promise.all([start(), start(), start()])).map(({ socket = "" }) => socket);
      expect(await findProcesses(dataDir))
        .to.have.members(sockets.map(toSocketPath))
        .and.have.length(3);
      await Promise.all(open.splice(0).map((admin) => admin.close()));
    }
  });

  it("listens on no port unless it is told one", async () => {
    expect((await start()).url).to.equal(undefined);
  });

  describe("on its port", () => {
    it("does not keep the port of a process that cannot start, as where no token can be kept", async () => {
      const port = await findFreePort();
      mkdirSync(join(dataDir, "kept", "admin.token"), { recursive: true });
      const admin = { port, host: "127.0.0.1", token: undefined, login: undefined };
      const refusal = await openAdmin({
        config: { dataDir: join(dataDir, "kept"), admin },
        routes: ROUTES,
        log: silentLog,
      }).catch((error: unknown) => error);
      expect(refusal).to.have.property("code", "unavailable");
      expect(String(refusal)).to.include("set ADMIN_TOKEN");
      expect((await start(port)).url).to.equal(`http://127.0.0.1:${port}`);
    });

    it("makes a token anew where the file has none, since anybody knows the empty one", async () => {
      const emptied = createFolder();
      writeFileSync(join(emptied, "admin.token"), "\n");
      const admin = { port: 0, host: "127.0.0.1", token: undefined, login: undefined };
      open.push(await openAdmin({ config: { dataDir: emptied, admin }, routes: ROUTES, log: silentLog }));
      expect((await fetch(`${open[0]?.url}/figures?token=`, { redirect: "manual" })).status).to.equal(401);
    });

    it("names the methods of a path that is asked with another one (RFC 9110, 15.5.6)", async () => {
      const { url = "" } = await start(0);
      const headers = { authorization: `Bearer ${TOKEN}` };
      const response = await fetch(`${url}/figures`, { method: "DELETE", headers });
      expect([response.status, response.headers.get("allow")]).to.deep.equal([405, "GET, HEAD"]);
    });

    it("lets nobody in without its token", async () => {
      const { url = "" } = await start(0);
      const wrong: readonly RequestInit[] = [
        {},
        { method: "HEAD" },
        { headers: { authorization: "Bearer wrong" } },
        { headers: { cookie: "payphone_admin=wrong" } },
        { headers: { cookie: `payphone_admin=${TOKEN}` } },
        { headers: { "x-forwarded-user": "alice" } },
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

    it("marks the cookie as secure where a proxy says that the browser came over TLS, and nowhere else", async () => {
      const { url = "" } = await start(0);
      for (const [scheme, isSecure] of [
        ["https", true],
        ["http", false],
      ] as const) {
        const headers = { "x-forwarded-proto": scheme };
        const entry = await fetch(`${url}/?token=${TOKEN}`, { redirect: "manual", headers });
        expect(/; Secure(;|$)/.test(entry.headers.get("set-cookie") ?? ""), scheme).to.equal(isSecure);
      }
    });

    it("shows browsers where to write the token", async () => {
      const { url = "" } = await start(0);
      const page = await fetch(`${url}/sales?token=wrong`, { headers: { accept: "text/html" } });
      expect([page.status, page.headers.get("content-security-policy")?.includes("'none'")]).to.deep.equal([401, true]);
      expect(await page.text())
        .to.include("That is not the token")
        .and.to.include('type="password"');
    });

    it("answers to the name in ADMIN_HOST", async () => {
      const { url = "" } = await start(0, undefined, "127.1"); // An address to the system's resolver alone.
      const headers = { host: "127.1", authorization: `Bearer ${TOKEN}` };
      const asked = request(`${url}/figures`, { headers }).end();
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      expect(response.resume().statusCode).to.equal(200);
    });

    it("takes a token that was copied with blanks around it", async () => {
      const { url = "" } = await start(0);
      expect((await fetch(`${url}/sales?token=+${TOKEN}+`, { redirect: "manual" })).status).to.equal(303);
    });

    it("lets who signs in by the form arrive at the page that was asked for", async () => {
      const { url = "" } = await start(0);
      const asked = `${url}/buyers/0xA?days=7&token=wrong&q=${encodeURIComponent('">&a')}`;
      const page = await (await fetch(asked, { headers: { accept: "text/html" } })).text();
      const kept = [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
      expect(kept.map(([, name, value]) => [name, value])).to.deep.equal([
        ["days", "7"],
        ["q", "&quot;&gt;&amp;a"],
      ]);
    });

    describe("with ADMIN_LOGIN_HEADER", () => {
      const login = (from: string): LoginHeader => ({ name: "x-forwarded-user", from: [from] });
      const statusOf = async (
        from: string,
        headers: Record<string, string | string[]>,
      ): Promise<number | undefined> => {
        const { url = "" } = await start(0, login(from));
        const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
        const answer = (response: IncomingMessage): void => resolve(response.resume().statusCode);
        request(`${url}/figures`, { headers }, answer).once("error", reject).end();
        return promise;
      };

      it("believes the named proxy about who has logged in", async () => {
        for (const from of ["127.0.0.1", "127.0.0.0/8"])
          expect(await statusOf(from, { "x-forwarded-user": "alice" })).to.equal(200);
      });

      it("believes nobody else, no empty name, no header that came twice, and no page of another name", async () => {
        expect(await statusOf("10.0.0.7", { "x-forwarded-user": "alice" })).to.equal(401);
        expect(await statusOf("127.0.0.1", { "x-forwarded-user": "" })).to.equal(401);
        expect(await statusOf("127.0.0.1", { "x-forwarded-user": ["mallory", "alice"] })).to.equal(401);
        expect(await statusOf("127.0.0.1", { "x-forwarded-for": "127.0.0.1" })).to.equal(401);
        expect(await statusOf("127.0.0.1", { "x-forwarded-user": "alice", host: "evil.example" })).to.equal(421);
      });
    });

    it("has nothing that changes the shop", async () => {
      const { url = "" } = await start(0);
      const headers = { authorization: `Bearer ${TOKEN}` };
      expect((await fetch(`${url}/apply`, { method: "POST", headers })).status).to.equal(404);
    });
  });
});
