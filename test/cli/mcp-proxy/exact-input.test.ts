import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import { generatePrivateKey } from "viem/accounts";
import { LAUNCHER } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { INHERITED } from "../../support/inherited.ts";
import { USDC_OFFER } from "../call/seller.ts";

const CHALLENGE = { x402Version: 2, error: "pay", resource: { url: "https://seller.example/" }, accepts: [USDC_OFFER] };
const TOOLS = [
  { name: "text", inputSchema: { type: "object", properties: { id: { type: "string" } } } },
  { name: "number", inputSchema: { type: "object", properties: { id: { type: "integer" } } } },
];
const call = (id: number, name: string, value: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{"id":${value}}}}`;

describe("payphone mcp-proxy, for a client whose integers have more digits than JavaScript's,", () => {
  it("asks for no other integer, and pays for none", async () => {
    const asked: unknown[] = [];
    const seller = createServer(async (incoming, outgoing) => {
      const { id, method, params } = JSON.parse((await buffer(incoming)).toString() || "{}");
      const answer = (result: object): void =>
        void outgoing
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      const sandbox = { mode: "sandbox", buyer: { evm: { private_key: generatePrivateKey() } } };
      if (incoming.url === "/sandbox") return void outgoing.end(JSON.stringify(sandbox));
      if (method === "initialize") {
        const { protocolVersion } = params;
        return answer({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "ids", version: "1" } });
      }
      if (method === "server/discover") return void outgoing.writeHead(404).end();
      if (id === undefined) return void outgoing.writeHead(incoming.method === "POST" ? 202 : 405).end();
      if (method === "tools/list") return answer({ tools: TOOLS });
      const isPaid = params._meta?.["x402/payment"] !== undefined;
      if (isPaid || params.name === "text") asked.push(params.arguments.id);
      if (isPaid || params.name === "text") return answer({ content: [] });
      answer({ isError: true, content: [], structuredContent: CHALLENGE });
    });
    await once(seller.listen(0, "127.0.0.1"), "listening");
    const spending = createFolder();
    const url = `http://127.0.0.1:${(seller.address() as AddressInfo).port}/mcp`;
    const args = [LAUNCHER, "mcp-proxy", url, "--spending", spending];
    const proxy = spawn(process.execPath, args, { env: INHERITED, stdio: ["pipe", "pipe", "ignore"] });
    const lines = createInterface(proxy.stdout)[Symbol.asyncIterator]();
    const say = async (line: string): Promise<unknown> => {
      proxy.stdin.write(`${line}\n`);
      return JSON.parse((await lines.next()).value ?? "");
    };
    try {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a-test", version: "1" } };
      await say(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }));
      proxy.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);

      await say(call(1, "text", "12345678901234567890"));
      await say(call(9007199254740991, "number", "9007199254740991"));
      const refused = await say(call(3, "number", "12345678901234567890"));
      expect(asked).to.deep.equal(["12345678901234567890", 9007199254740991]);
      expect(refused)
        .to.have.nested.property("result.content[0].text")
        .that.matches(/body\.id: .*\nNothing was paid\.$/);
    } finally {
      proxy.kill("SIGTERM"); // Its input is still open.
      await once(proxy, "exit");
      seller.close();
    }
  });
});
