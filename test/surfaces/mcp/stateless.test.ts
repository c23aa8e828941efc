import { expect } from "chai";
import { failsWith, type Headers, request, stageEndpoint, VERSIONS } from "../support/endpoint-stage.ts";
import { MODERN_META } from "./served/support/stall.ts";

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

describe("the MCP endpoint", () => {
  const stage = stageEndpoint();
  const { modern, old } = stage;

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
      const call = await stage.stall.call("roll");
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
      failsWith(await stage.stall.post(body), -32020, 400);
      failsWith(await stage.stall.post(body, { "mcp-method": "tools/list" }), -32020, 400);
      failsWith(await stage.stall.post(body, { "mcp-protocol-version": "2026-07-28" }), -32020, 400);
    });

    it("wants the tool's name in Mcp-Name, plain or encoded, white space aside", async () => {
      const encoded = `=?base64?${Buffer.from("roll").toString("base64")}?=`;
      for (const name of ["roll", "  roll\t", encoded])
        expect((await stage.stall.call("roll", {}, { headers: { "mcp-name": name } })).status, name).to.equal(200);
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
        const answer = await stage.stall.call("roll", {}, { headers: { "mcp-name": name } });
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
      failsWith(await stage.stall.post(body, { "mcp-protocol-version": "2026-07-28" }), -32600, 400, null);
    });
  });
});
