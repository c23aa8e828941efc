import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { runVerify } from "../../../runtime/cli/verify/verify.ts";
import { createFolder } from "../../support/folder.ts";
import { sharedSandboxServer } from "../../support/sellers/shared-sandbox-server.ts";
import { json, stockFetchV1 } from "../../support/sellers/stock-buyer.ts";
import type { Loose } from "../../surfaces/mcp/served/support/stall.ts";

describe("what is signed", () => {
  const folder = createFolder();

  async function verify(value: unknown): Promise<readonly string[]> {
    const file = join(folder, "proof.json");
    writeFileSync(file, JSON.stringify(value));
    const lines: string[] = [];
    const out = (text: string): void => void lines.push(text);
    await runVerify({ file, json: false }, { out, err: () => {}, signal: new AbortController().signal });
    return lines;
  }

  it("are offers for A2A's own address in a task, and for the route's in its 402, when both are asked for at once", async () => {
    const { url } = await sharedSandboxServer();
    const message = {
      kind: "message",
      messageId: "m",
      role: "user",
      parts: [{ kind: "data", data: { skill: "roll", input: { low: 1, high: 6 } } }],
    };
    const ask = { jsonrpc: "2.0", id: 1, method: "message/send", params: { message } };
    const [route, task] = [
      await (await fetch(`${url}/v1/roll`, { method: "POST" })).json(),
      await (await fetch(`${url}/v1/a2a`, json(ask))).json(),
    ];
    for (const line of await verify(route)) expect(line).to.match(/^valid offer: .* buys http:\S+\/v1\/roll, /);
    for (const line of await verify(task)) expect(line).to.match(/^valid offer: .* buys http:\S+\/v1\/a2a, /);
  });

  it("are offers of a tool, which are not valid beside a challenge with other terms", async () => {
    const { url } = await sharedSandboxServer();
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "roll", arguments: {} } };
    const unpaid = (await (await fetch(`${url}/mcp`, json(call))).json()) as Loose;
    for (const line of await verify(unpaid)) expect(line).to.match(/^valid offer: 1000 of /);
    unpaid.result.structuredContent.accepts[0].amount = "2000";
    expect((await verify(unpaid))[0]).to.equal("NOT VALID: amount is 2000 in the file, and 1000 was signed");
    delete unpaid.result.structuredContent;
    expect((await verify(unpaid))[0]).to.match(/^valid offer: /);
    unpaid.result._meta["x402/error"].accepts[0].amount = "3000";
    expect((await verify(unpaid))[0]).to.equal("NOT VALID: amount is 3000 in the file, and 1000 was signed");
  });

  it("is a receipt that shows version 1's name of the network to whoever pays by it, and of no other one", async () => {
    const sandbox = await sharedSandboxServer();
    const pay = await stockFetchV1(sandbox as never, "base");
    const response = await pay(`${sandbox.url}/v1/roll?x402Version=1`, json({ low: 1, high: 6 }));
    const receipt = JSON.parse(atob(response.headers.get("x-payment-response") as string));
    expect(receipt.network).to.equal("base");
    expect((await verify(receipt))[0]).to.match(/^valid receipt: 0x\w{40} has paid for \S+ on eip155:8453 in 0x/);
    for (const network of ["polygon", "Base", "base-sepolia", ""])
      expect((await verify({ ...receipt, network }))[0]).to.equal(
        `NOT VALID: network is ${network} in the file, and eip155:8453 was signed`,
      );
  });
});
