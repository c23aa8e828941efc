import { gzipSync } from "node:zlib";
import { expect } from "chai";
import type { SandboxServer } from "../../support/sellers/sandbox-server.ts";
import { sharedSandboxServer } from "../../support/sellers/shared-sandbox-server.ts";

const ASK = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const DOORS = [
  ["/mcp", ASK],
  ["/v1/a2a", { ...ASK, method: "tasks/get", params: { id: "nobody's" } }],
] as const;

describe("the body of a JSON-RPC request", () => {
  let server: SandboxServer;
  before(async () => {
    server = await sharedSandboxServer();
  });

  const post = (path: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(server.url + path, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });

  for (const [path, message] of DOORS) {
    const text = JSON.stringify(message);

    it(`may begin with a byte order mark, as on a service's route, at ${path}`, async () => {
      const [marked, plain] = await Promise.all([post(path, `\ufeff${text}`), post(path, text)]);
      expect(await marked.json()).to.deep.equal(await plain.json());
      expect(marked.status).to.equal(200);
    });

    it(`is refused as no JSON when it is too deep or no UTF-8, and says that it may be that, at ${path}`, async () => {
      const deep = JSON.stringify({ ...message, params: { deep: JSON.parse(`${"[".repeat(70)}${"]".repeat(70)}`) } });
      for (const body of [
        deep,
        Buffer.from(text.replace("tools", "t\xf6\xf6ls").replace("nobody", "n\xf6body"), "latin1"),
      ]) {
        const response = await post(path, body);
        expect(response.status).to.equal(400);
        const { error } = (await response.json()) as { error: { code: number; message: string } };
        expect(error.code).to.equal(-32700);
        expect(error.message).to.match(/UTF-8, or is nested too deep$/);
      }
    });

    it(`may hold an input as deep as on the service's own route, at ${path}`, async () => {
      const input = { data: JSON.parse(`${"[".repeat(63)}${"]".repeat(63)}`) };
      const parts = [{ kind: "data", data: { skill: "anchor", input } }];
      const asked = { name: "anchor", arguments: input, message: { messageId: "m", role: "user", parts } };
      const method = path === "/mcp" ? "tools/call" : "message/send";
      const unpaid = await post(path, JSON.stringify({ ...message, method, params: asked }));
      expect(unpaid.status).to.equal(200);
      expect(await unpaid.text()).to.include('"accepts"');
    });

    it(`is refused when it is compressed, with that reason, at ${path}`, async () => {
      const response = await post(path, gzipSync(text), { "content-encoding": "gzip" });
      expect(response.status).to.equal(415);
      const { error } = (await response.json()) as { error: { code: number; message: string } };
      expect(error).to.include({
        code: -41501,
        message: "The body is compressed; send it without a content-encoding",
      });
    });
  }
});
