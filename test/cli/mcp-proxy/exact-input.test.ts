import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { LAUNCHER } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { INHERITED } from "../../support/inherited.ts";
import { startScripted, UNPAID } from "./scripted.ts";

const TOOLS = [
  { name: "text", inputSchema: { type: "object", properties: { id: { type: "string" } } } },
  { name: "number", inputSchema: { type: "object", properties: { id: { type: "integer" } } } },
];
const call = (id: number, name: string, value: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{"id":${value}}}}`;

describe("payphone mcp-proxy, for a client whose arguments JavaScript cannot hold or write,", () => {
  it("asks for no others, and pays for none", async () => {
    const asked: unknown[] = [];
    const seller = await startScripted(
      ({ payment, params, answer }) => {
        const isBought = payment !== undefined || params.name === "text";
        if (isBought) asked.push(params.arguments.id);
        answer(isBought ? { content: [] } : UNPAID);
      },
      () => ({ tools: TOOLS }),
    );
    const args = [LAUNCHER, "mcp-proxy", seller.url, "--spending", createFolder()];
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
      const deep = await say(call(4, "text", `${"[".repeat(5000)}1234567890123456789${"]".repeat(5000)}`));
      expect(deep, "which ends no proxy").to.deep.include({ id: 4 }).and.have.nested.property("error.code", -32602);
      for (const value of ["1e999", '"\\ud83d"'])
        expect(await say(call(5, "text", value)), value)
          .to.have.nested.property("result.content[0].text")
          .that.matches(/^the arguments of text cannot be sent: .*\. Nothing was paid\.$/);
      expect(asked).to.have.length(2);
    } finally {
      proxy.kill("SIGTERM"); // Its input is still open.
      await once(proxy, "exit");
      seller.close();
    }
  });
});
