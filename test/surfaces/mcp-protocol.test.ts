import { expect } from "chai";
import { MODERN_META, openStall, type Stall } from "../mcp/support/stall.ts";

const VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];
const HANDSHAKE = VERSIONS.slice(1);
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

type Headers = Record<string, string>;

describe("the MCP endpoint", () => {
  let stall: Stall;
  before(async () => {
    stall = await openStall();
  });
  after(() => stall.close());

  const request = (method: string, params?: object, id: unknown = 7) => ({ jsonrpc: "2.0", id, method, params });
  const modern = (method: string, params: object = {}, headers: Headers = {}) =>
    stall.post(request(method, { _meta: MODERN_META, ...params }), {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...headers,
    });
  const old = (method: string, params?: object, version?: string) =>
    stall.post(request(method, params), version === undefined ? {} : { "mcp-protocol-version": version });
  const failsWith = (answer: Awaited<ReturnType<Stall["post"]>>, code: number, status: number, id: unknown = 7) => {
    expect(answer.body.error, JSON.stringify(answer.body)).to.include({ code });
    expect(answer.status).to.equal(status);
    expect(answer.body.error.message).to.be.a("string").with.length.above(10);
    if (id === null) expect(answer.body).not.to.have.property("id");
    else expect(answer.body.id).to.equal(id);
  };

  describe("as JSON-RPC", () => {
    it("answers text that is no JSON with a parse error", async () => {
      for (const text of ["", "{", '{"jsonrpc":"2.0",}', "nope"]) {
        failsWith(await stall.post(text), -32700, 400, null);
      }
    });

    it("answers a message of the wrong shape with an invalid request, and with its id where that can be read", async () => {
      const shapes: [unknown, unknown][] = [
        ["null", null],
        ["7", null],
        ['"ping"', null],
        [{}, null],
        [{ jsonrpc: "1.0", id: 3, method: "ping" }, 3],
        [{ jsonrpc: "2.0", id: 3 }, 3],
        [{ jsonrpc: "2.0", id: 3, method: 5 }, 3],
        [{ jsonrpc: "2.0", id: "a", method: "ping", params: [] }, "a"],
        [{ jsonrpc: "2.0", id: "a", method: "ping", params: null }, "a"],
        [{ jsonrpc: "2.0", id: null, method: "ping" }, null],
        [{ jsonrpc: "2.0", id: 1.5, method: "ping" }, null],
        [{ jsonrpc: "2.0", id: {}, method: "ping" }, null],
        ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', null],
      ];
      for (const [message, id] of shapes) failsWith(await stall.post(message), -32600, 400, id);
    });

    it("gives every id back as it came", async () => {
      for (const id of [0, -1, 9007199254740991, "", "ü", '"\u2028', "__proto__"]) {
        expect((await stall.post(request("ping", undefined, id))).body.id).to.equal(id);
      }
    });

    it("takes notifications and responses, and answers neither", async () => {
      const messages = [
        { jsonrpc: "2.0", method: "notifications/initialized" },
        { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
        { jsonrpc: "2.0", method: "tools/call", params: { name: "roll" } },
        { jsonrpc: "2.0", id: 1, result: {} },
        { jsonrpc: "2.0", id: 1, error: { code: 1, message: "" } },
      ];
      for (const message of messages) {
        const { status, body } = await stall.post(message, { "mcp-protocol-version": "2025-06-18" });
        expect([status, body]).to.deep.equal([202, undefined]);
      }
      const posted = await stall.post(messages[0], { "mcp-protocol-version": "2026-07-28" });
      expect([posted.status, posted.body]).to.deep.equal([202, undefined]);
      expect(stall.executions).to.equal(0);
    });

    it("refuses a notification that names a version nobody serves, and a response in the stateless version", async () => {
      const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
      failsWith(await stall.post(notification, { "mcp-protocol-version": "1999-01-01" }), -32022, 400, null);
      const response = { jsonrpc: "2.0", id: 1, result: {} };
      failsWith(await stall.post(response, { "mcp-protocol-version": "2026-07-28" }), -32600, 400, null);
    });

    it("is never cached, and says that it is JSON", async () => {
      for (const answer of [await old("ping"), await stall.post("{")])
        expect(answer.headers).to.include({ "content-type": "application/json", "cache-control": "no-store" });
    });
  });

  describe("over HTTP", () => {
    it("takes POST only", async () => {
      for (const method of ["GET", "DELETE", "PUT", "HEAD"]) {
        const signal = new AbortController().signal;
        const reply = await stall.mcp.handle({ method, headers: {}, body: "", requestId: "r", signal });
        expect(reply.status).to.equal(405);
        expect(reply.headers.allow).to.equal("POST");
      }
    });

    it("takes JSON only", async () => {
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
        failsWith(await stall.post(request("ping"), { "content-type": type }), -41501, 415, null);
      for (const type of ["application/json; charset=utf-8", "Application/JSON", "application/rpc+json"])
        expect((await stall.post(request("ping"), { "content-type": type })).status, type).to.equal(200);
    });

    it("looks at no Accept header, session or last event", async () => {
      const headers = { accept: "text/html", "mcp-session-id": "abc", "last-event-id": "5" };
      const answer = await stall.post(request("ping"), headers);
      expect(answer.status).to.equal(200);
      expect(answer.headers).not.to.have.property("mcp-session-id");
    });
  });

  describe("in the stateless version", () => {
    it("tells who it is, what it speaks and how to pay, for all to keep", async () => {
      const { body, status } = await modern("server/discover");
      expect(status).to.equal(200);
      expect(body.result).to.deep.include({
        resultType: "complete",
        supportedVersions: VERSIONS,
        capabilities: { tools: {} },
        cacheScope: "public",
      });
      expect(body.result.ttlMs).to.be.a("number").above(0);
      for (const word of ["structuredContent.accepts", '_meta["x402/payment"]', "PAYMENT-SIGNATURE", "no account"])
        expect(body.result.instructions).to.include(word);
      expect(body.result._meta["io.modelcontextprotocol/serverInfo"]).to.deep.equal({
        name: "payphone",
        title: "Payphone",
        version: "0.3.0",
        description: "Dice for tests.",
        websiteUrl: "https://payphone.test",
      });
    });

    it("marks every result as complete and with its identity, and lists for how long they may be kept", async () => {
      const list = await modern("tools/list");
      const call = await stall.call("roll");
      for (const { body } of [list, call]) {
        expect(body.result.resultType).to.equal("complete");
        expect(body.result._meta["io.modelcontextprotocol/serverInfo"]).to.include({ name: "payphone" });
      }
      expect(list.body.result).to.include({ cacheScope: "public" }).and.have.property("ttlMs");
      expect(call.body.result).not.to.have.property("ttlMs");
    });

    it("needs no clientInfo, and overlooks what it does not know", async () => {
      const _meta = { ...MODERN_META, "io.modelcontextprotocol/logLevel": "debug", traceparent: "x", "a/b": 1 };
      expect((await modern("tools/list", { _meta, more: true })).status).to.equal(200);
    });

    it("wants version and capabilities in _meta", async () => {
      const bad = [
        undefined,
        {},
        { [CAPABILITIES_KEY]: {} },
        { [VERSION_KEY]: "2026-07-28" },
        { [VERSION_KEY]: "2026-07-28", [CAPABILITIES_KEY]: [] },
        { [VERSION_KEY]: 5, [CAPABILITIES_KEY]: {} },
        { [VERSION_KEY]: null, [CAPABILITIES_KEY]: {} },
      ];
      for (const _meta of bad) failsWith(await modern("tools/list", { _meta }), -32602, 400);
      failsWith(await modern("tools/list", { _meta: "x" }), -32602, 400);
    });

    it("wants headers that say what the body says", async () => {
      const wrong: Headers[] = [
        { "mcp-protocol-version": "2025-11-25" },
        { "mcp-method": "tools/call" },
        { "mcp-method": "TOOLS/LIST" },
        { "mcp-method": "" },
      ];
      for (const headers of wrong) failsWith(await modern("tools/list", {}, headers), -32020, 400);
      const body = request("tools/list", { _meta: MODERN_META });
      failsWith(await stall.post(body), -32020, 400);
      failsWith(await stall.post(body, { "mcp-method": "tools/list" }), -32020, 400);
      failsWith(await stall.post(body, { "mcp-protocol-version": "2026-07-28" }), -32020, 400);
    });

    it("wants the tool's name in Mcp-Name, plain or encoded, white space aside", async () => {
      const encoded = `=?base64?${Buffer.from("roll").toString("base64")}?=`;
      for (const name of ["roll", "  roll\t", encoded])
        expect((await stall.call("roll", {}, { headers: { "mcp-name": name } })).status, name).to.equal(200);
      const bad = [
        "echo",
        "Roll",
        "",
        "=?base64?cm9sbA?=",
        "=?base64?!!!!?=",
        "=?BASE64?cm9sbA==?=",
        "röll",
        "=?base64?/w==?=",
      ];
      for (const name of bad) {
        const answer = await stall.call("roll", {}, { headers: { "mcp-name": name } });
        failsWith(answer, -32020, 400, 1);
      }
      failsWith(await modern("tools/call", { name: "roll" }), -32020, 400);
    });

    it("looks for an encoded name as what it encodes", async () => {
      const raw = await modern("tools/call", { name: "würfel" }, { "mcp-name": "würfel" });
      failsWith(raw, -32020, 400); // No header may hold such characters as they are.
      const header = `=?base64?${Buffer.from("würfel").toString("base64")}?=`;
      const answer = await modern("tools/call", { name: "würfel" }, { "mcp-name": header });
      failsWith(answer, -32602, 200);
      expect(answer.body.error.message).to.match(/Unknown tool/);
    });

    it("says which versions there are to whom it cannot serve, and never the one that was asked for", async () => {
      for (const version of ["2027-01-01", "v999.0.0", "2025-11-25"]) {
        const _meta = { ...MODERN_META, [VERSION_KEY]: version };
        const answer = await modern("server/discover", { _meta }, { "mcp-protocol-version": version });
        failsWith(answer, -32022, 400);
        const supported = VERSIONS.filter((known) => known !== version);
        expect(answer.body.error.data).to.deep.equal({ supported, requested: version });
      }
    });

    it("refuses a later version that only the header names", async () => {
      const answer = await old("tools/list", {}, "2099-01-01");
      failsWith(answer, -32022, 400);
      expect(answer.body.error.data.supported).to.deep.equal(VERSIONS);
    });

    it("checks agreement before support, support before headers, headers before _meta, _meta before method", async () => {
      const claim = (version: string) => ({ ...MODERN_META, [VERSION_KEY]: version });
      const version = (named: string): Headers => ({ "mcp-protocol-version": named, "mcp-method": "other" });
      failsWith(await modern("nope", { _meta: claim("2099-01-01") }, version("2026-07-28")), -32020, 400);
      failsWith(await modern("nope", { _meta: claim("2099-01-01") }, version("2099-01-01")), -32022, 400);
      failsWith(await modern("nope", { _meta: {} }, version("2026-07-28")), -32020, 400);
      failsWith(await modern("nope", { _meta: { [VERSION_KEY]: "2026-07-28" } }), -32602, 400);
      failsWith(await modern("nope"), -32601, 404);
    });

    it("has no method beyond its three, and says so with 404", async () => {
      const gone = [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/list",
        "prompts/list",
        "__proto__",
        "toString",
      ];
      for (const method of gone) failsWith(await modern(method), -32601, 404);
      failsWith(await modern("subscriptions/listen", { notifications: { toolsListChanged: true } }), -32601, 404);
    });

    it("takes no lists of messages", async () => {
      const body = [request("tools/list", { _meta: MODERN_META })];
      failsWith(await stall.post(body, { "mcp-protocol-version": "2026-07-28" }), -32600, 400, null);
    });
  });

  describe("in the handshake's versions", () => {
    it("agrees to each version that it serves, and offers its newest for any other", async () => {
      for (const protocolVersion of HANDSHAKE) {
        const { body, status } = await old("initialize", { protocolVersion, capabilities: {}, clientInfo: {} });
        expect(status).to.equal(200);
        expect(body.result).to.deep.include({ protocolVersion, capabilities: { tools: {} } });
        expect(body.result.instructions).to.match(/x402/);
      }
      for (const protocolVersion of ["2024-11-05", "2026-07-28", "2030-01-01", "x"]) {
        const { body } = await old("initialize", { protocolVersion });
        expect(body.result.protocolVersion).to.equal("2025-11-25");
      }
    });

    it("introduces itself with what each version knows", async () => {
      const fields = {
        "2025-11-25": ["name", "title", "version", "description", "websiteUrl"],
        "2025-06-18": ["name", "title", "version"],
        "2025-03-26": ["name", "version"],
      };
      for (const [protocolVersion, known] of Object.entries(fields)) {
        const { body } = await old("initialize", { protocolVersion });
        expect(body.result.serverInfo, protocolVersion).to.have.all.keys(known);
      }
    });

    it("shows icons from the version on that has them", async () => {
      const icons = [{ src: "https://payphone.test/icon.png", mimeType: "image/png", sizes: ["48x48"] }];
      const other = await openStall({ icons });
      const infoIn = async (protocolVersion: string) =>
        (await other.post(request("initialize", { protocolVersion }))).body.result.serverInfo;
      expect((await infoIn("2025-11-25")).icons).to.deep.equal(icons);
      expect(await infoIn("2025-06-18")).not.to.have.property("icons");
      other.close();
    });

    it("wants to be told which version", async () => {
      failsWith(await old("initialize"), -32602, 200);
      failsWith(await old("initialize", { protocolVersion: 5 }), -32602, 200);
    });

    it("gives no session", async () => {
      const { headers } = await old("initialize", { protocolVersion: "2025-06-18" });
      expect(headers).not.to.have.property("mcp-session-id");
    });

    it("opens no handshake under a header of the stateless version", async () => {
      const answer = await old("initialize", { protocolVersion: "2025-11-25" }, "2026-07-28");
      failsWith(answer, -32020, 400);
    });

    it("answers ping with nothing", async () => {
      for (const version of HANDSHAKE) expect((await old("ping", undefined, version)).body.result).to.deep.equal({});
    });

    it("takes a missing version header for the version that had none", async () => {
      const [named, unnamed] = [await old("tools/list", {}, "2025-03-26"), await old("tools/list", {})];
      expect(unnamed.body).to.deep.equal(named.body);
    });

    it("refuses an unknown version header", async () => {
      for (const version of ["2024-11-05", "x", "", "2025-06-18, 2025-06-18"]) {
        for (const method of ["tools/list", "initialize"]) {
          const answer = await old(method, { protocolVersion: "2025-06-18" }, version);
          failsWith(answer, -32022, 400);
          expect(answer.body.error.data).to.deep.equal({ supported: VERSIONS, requested: version });
        }
      }
    });

    it("answers a method that it does not have with 200, since 404 would end a session", async () => {
      for (const version of HANDSHAKE)
        for (const method of ["resources/list", "notifications/initialized", "__proto__"])
          failsWith(await old(method, {}, version), -32601, 200);
    });

    it("adds nothing of the stateless version to its results", async () => {
      for (const version of HANDSHAKE) {
        for (const { body } of [await old("tools/list", {}, version), await stall.call("roll", {}, { version })]) {
          expect(body.result).not.to.have.any.keys("resultType", "ttlMs", "cacheScope");
          expect(JSON.stringify(body.result._meta ?? {})).not.to.include("serverInfo");
        }
      }
    });

    it("answers server/discover to whoever asks", async () => {
      const { body } = await old("server/discover");
      expect(body.result).to.deep.include({ supportedVersions: VERSIONS, resultType: "complete" });
    });
  });

  describe("with a list of messages", () => {
    const note = { jsonrpc: "2.0", method: "notifications/initialized" };

    it("answers each request of it, in order, and nothing else", async () => {
      const list = [
        request("ping", {}, "a"),
        note,
        { jsonrpc: "2.0", id: 5, result: {} },
        {},
        request("nope", {}, "b"),
      ];
      for (const headers of [{}, { "mcp-protocol-version": "2025-03-26" }]) {
        const { body, status } = await stall.post(list, headers as Headers);
        expect(status).to.equal(200);
        expect(body.map(({ id, error }: { id: unknown; error?: { code: number } }) => [id, error?.code])).to.deep.equal(
          [
            ["a", undefined],
            [undefined, -32600],
            ["b", -32601],
          ],
        );
      }
    });

    it("is accepted without an answer when nothing in it asks for one", async () => {
      const { body, status } = await stall.post([note, note]);
      expect([status, body]).to.deep.equal([202, undefined]);
    });

    it("exists in one version only", async () => {
      for (const version of ["2026-07-28", "2025-11-25", "2025-06-18", "x"])
        failsWith(await stall.post([request("ping")], { "mcp-protocol-version": version }), -32600, 400, null);
    });

    it("is neither empty nor longer than twenty", async () => {
      failsWith(await stall.post([]), -32600, 400, null);
      const pings = (count: number) => Array.from({ length: count }, (_, at) => request("ping", {}, at));
      failsWith(await stall.post(pings(21)), -32600, 400, null);
      expect((await stall.post(pings(20))).body).to.have.length(20);
    });

    it("has no handshake and no stateless request in it", async () => {
      const list = [
        request("initialize", { protocolVersion: "2025-03-26" }, 1),
        request("tools/list", { _meta: MODERN_META }, 2),
        [request("ping", {}, 3)],
        request("ping", {}, 4),
      ];
      const { body } = await stall.post(list);
      const codes = body.map(({ error }: { error?: { code: number } }) => error?.code);
      expect(codes).to.deep.equal([-32600, -32020, -32600, undefined]);
    });
  });
});
