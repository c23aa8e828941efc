import { expect } from "chai";
import { toDoorRequest } from "../../support/door-request.ts";
import { failsWith, type Headers, request, stageEndpoint } from "../support/endpoint-stage.ts";
import { MODERN_META } from "./served/support/stall.ts";

describe("the MCP endpoint", () => {
  const stage = stageEndpoint();
  const { old } = stage;

  describe("as JSON-RPC", () => {
    it("answers text that is no JSON with a parse error", async () => {
      for (const text of ["", "{", '{"jsonrpc":"2.0",}', "nope"]) {
        failsWith(await stage.stall.post(text), -32700, 400, null);
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
        [{ jsonrpc: "2.0", id: null, method: "ping" }, null],
        [{ jsonrpc: "2.0", id: 1.5, method: "ping" }, null],
        [{ jsonrpc: "2.0", id: {}, method: "ping" }, null],
        ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', null],
      ];
      for (const [message, id] of shapes) failsWith(await stage.stall.post(message), -32600, 400, id);
    });

    it("takes params that are null for none, as some clients write them", async () => {
      for (const method of ["ping", "tools/list"]) {
        const { status, body } = await stage.stall.post({ jsonrpc: "2.0", id: "a", method, params: null });
        expect([status, body.id, body.error]).to.deep.equal([200, "a", undefined]);
      }
      const { status } = await stage.stall.post({ jsonrpc: "2.0", method: "notifications/initialized", params: null });
      expect(status).to.equal(202);
    });

    it("gives every id back as it came", async () => {
      for (const id of [0, -1, 9007199254740991, "", "ü", '"\u2028', "__proto__"]) {
        expect((await stage.stall.post(request("ping", undefined, id))).body.id).to.equal(id);
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
        const { status, body } = await stage.stall.post(message, { "mcp-protocol-version": "2025-06-18" });
        expect([status, body]).to.deep.equal([202, undefined]);
      }
      const posted = await stage.stall.post(messages[0], { "mcp-protocol-version": "2026-07-28" });
      expect([posted.status, posted.body]).to.deep.equal([202, undefined]);
      expect(stage.stall.executions).to.equal(0);
    });

    it("refuses a notification that names a version nobody serves, and a response in the stateless version", async () => {
      const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
      failsWith(await stage.stall.post(notification, { "mcp-protocol-version": "1999-01-01" }), -32022, 400, null);
      const response = { jsonrpc: "2.0", id: 1, result: {} };
      failsWith(await stage.stall.post(response, { "mcp-protocol-version": "2026-07-28" }), -32600, 400, null);
    });

    it("is never cached, and says that it is JSON", async () => {
      for (const answer of [await old("ping"), await stage.stall.post("{")])
        expect(answer.headers).to.include({ "content-type": "application/json", "cache-control": "no-store" });
    });
  });

  describe("over HTTP", () => {
    it("takes JSON only", async () => {
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""]) {
        const answer = await stage.stall.post(request("ping"), { "content-type": type });
        failsWith(answer, -41501, 415, null);
        expect(answer.body.error.data.request_id, "by which the seller is asked").to.be.a("string");
      }
      for (const type of ["application/json; charset=utf-8", "Application/JSON", "application/rpc+json"])
        expect((await stage.stall.post(request("ping"), { "content-type": type })).status, type).to.equal(200);
    });

    it("looks at no Accept header, session or last event", async () => {
      const headers = { accept: "text/html", "mcp-session-id": "abc", "last-event-id": "5" };
      const answer = await stage.stall.post(request("ping"), headers);
      expect(answer.status).to.equal(200);
      expect(answer.headers).not.to.have.property("mcp-session-id");
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
        const { body, status } = await stage.stall.post(list, headers as Headers);
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
      const { body, status } = await stage.stall.post([note, note]);
      expect([status, body]).to.deep.equal([202, undefined]);
    });

    it("exists in one version only", async () => {
      for (const version of ["2026-07-28", "2025-11-25", "2025-06-18", "x"])
        failsWith(await stage.stall.post([request("ping")], { "mcp-protocol-version": version }), -32600, 400, null);
    });

    it("is neither empty nor longer than twenty", async () => {
      failsWith(await stage.stall.post([]), -32600, 400, null);
      const pings = (count: number) => Array.from({ length: count }, (_, at) => request("ping", {}, at));
      failsWith(await stage.stall.post(pings(21)), -32600, 400, null);
      expect((await stage.stall.post(pings(20))).body).to.have.length(20);
    });

    it("counts as many requests as it has messages, whatever they are", async () => {
      let admitted = 0;
      const admit = async (): Promise<void> => {
        admitted += 1;
      };
      const list = [request("initialize", {}, 1), request("initialize", {}, 2), note, {}, request("ping", {}, 3)];
      const headers = { "content-type": "application/json" };
      await stage.stall.mcp.handle(toDoorRequest(JSON.stringify(list), { headers, admit }));
      expect(admitted).to.equal(list.length);
    });

    it("has no handshake and no stateless request in it", async () => {
      const list = [
        request("initialize", { protocolVersion: "2025-03-26" }, 1),
        request("tools/list", { _meta: MODERN_META }, 2),
        [request("ping", {}, 3)],
        request("ping", {}, 4),
      ];
      const { body } = await stage.stall.post(list);
      const codes = body.map(({ error }: { error?: { code: number } }) => error?.code);
      expect(codes).to.deep.equal([-32600, -32020, -32600, undefined]);
    });
  });
});
