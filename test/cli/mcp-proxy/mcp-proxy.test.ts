import { createServer } from "node:http";
import type { Client } from "@modelcontextprotocol/client";
import { expect } from "chai";
import type { BudgetLimits } from "../../../runtime/cli/mcp-proxy/budget.ts";
import { SETTLE_LIFE_MS } from "../../../runtime/core/payments/settlement.ts";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import manifestSchema from "../../../schemas/manifest.json" with { type: "json" };
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import type { SandboxServer } from "../../support/sellers/sandbox-server.ts";
import { sharedSandboxServer } from "../../support/sellers/shared-sandbox-server.ts";
import { openProxy, startProxy } from "./proxy.ts";
import { startForgetful, startForgettingSessions } from "./sellers.ts";

const DICE = { name: "roll", arguments: { low: 1, high: 6, count: 2 } };

interface Answer {
  readonly isError?: boolean;
  readonly content: { readonly text: string }[];
  readonly structuredContent?: { readonly result: number[] };
  readonly _meta?: Readonly<Record<string, { readonly success: boolean; readonly transaction: string }>>;
}

describe("payphone mcp-proxy, used by a stock MCP client", () => {
  let sandbox: SandboxServer;
  let forgetful: Awaited<ReturnType<typeof startForgetful>>;
  let forgetting: Awaited<ReturnType<typeof startForgettingSessions>>;
  /** With the usual limits, for all tests. */
  let usual: { readonly spending: string; readonly client: Client; readonly old: Client };
  let spending: string;
  const clients: Client[] = [];

  before(async () => {
    sandbox = await sharedSandboxServer();
    forgetful = await startForgetful(sandbox.url);
    forgetting = await startForgettingSessions();
    const spending = createFolder();
    const client = await openProxy(`${sandbox.url}/mcp`, spending);
    usual = { spending, client, old: await openProxy(forgetting.url, spending) };
  });
  after(async () => {
    await Promise.all([usual?.client.close(), usual?.old.close()]);
    forgetful.server.close();
    forgetting.server.close();
  });
  beforeEach(() => {
    spending = createFolder();
  });
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

  async function open(url: string, limits?: Partial<BudgetLimits>): Promise<Client> {
    const client = await openProxy(url, spending, limits);
    clients.push(client);
    return client;
  }
  const call = async (client: Client, tool: object = DICE): Promise<Answer> =>
    (await client.callTool(tool as typeof DICE)) as unknown as Answer;

  it("shows the seller's tools, buys what they sell, and hands the receipt on", async () => {
    const { client } = usual;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.include.members(["roll", "screen"]);
    const answer = await call(client);
    expect(answer.isError, JSON.stringify(answer)).to.not.equal(true);
    expect(answer.structuredContent?.result).to.have.length(2);
    expect(answer._meta?.["x402/payment-response"]).to.include({ success: true });
    const second = await call(client);
    expect(second._meta?.["x402/payment-response"]?.transaction).not.to.equal(
      answer._meta?.["x402/payment-response"]?.transaction,
    );
  });

  it("pays no more than it may for one call and for one day, over a restart", async () => {
    const tight = await open(`${sandbox.url}/mcp`, { perCall: "0.0005" });
    expect((await call(tight)).content[0]?.text).to.match(/costs 0\.001 USD, more than the 0\.0005/);
    const first = await startProxy(`${sandbox.url}/mcp`, spending, "--max-usd-per-day", "0.002");
    clients.push(first);
    expect((await call(first)).isError).to.not.equal(true);
    expect((await call(first)).isError).to.not.equal(true);
    const again = await open(`${sandbox.url}/mcp`, { perDay: "0.002" });
    const refused = await call(again);
    expect(refused.isError).to.equal(true);
    expect(refused.content[0]?.text).to.match(/--max-usd-per-day allows are spent today.*Nothing was paid/);
  });

  it("hands on what a tool says that asks for a sign-in and no payment", async () => {
    const answer = await call(usual.client, { name: "purchases", arguments: {} });
    expect(answer.isError).to.equal(true);
    expect(answer.content[0]?.text).to.match(/^This tool is free for a wallet that signs in\./);
  });

  it("says what a refusal of the input says, and pays nothing for it", async () => {
    const { client } = usual;
    const answer = await call(client, { name: "roll", arguments: { low: 6, high: 1 } });
    expect(answer.isError).to.equal(true);
    expect(answer.content[0]?.text).to.include("high must be greater than or equal to low");
    expect((await call(client)).isError).to.not.equal(true);
  });

  it("signs nothing for an input that the tool's schema refuses, so that the day's budget stays", async () => {
    const client = await open(`${sandbox.url}/mcp`, { perDay: "0.001" });
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await call(client, { name: "roll", arguments: { low: "one" } });
      expect(answer.isError).to.equal(true);
      expect(answer.content[0]?.text).to.match(/low: .*valid integer\n.*high: Field required\nNothing was paid\.$/);
    }
    const misspelled = await call(client, { name: "roll", arguments: { low: 1, high: 6, coutn: 2 } });
    expect(misspelled.content[0]?.text).to.include(
      'coutn: The service does not know this field; did you mean "count"?',
    );
    expect((await call(client)).isError).to.not.equal(true);
  });

  it("knows a sandbox below a path for one, and pays with its buyer", async () => {
    // Without the slash, the tests below buy there.
    for (const end of ["/mcp/", "/mcp/?key=a/b"])
      expect((await call(await open(forgetful.url + end))).isError, end).to.not.equal(true);
  });

  it("knows a sandbox that was started where a shop was, and pays with its buyer", async () => {
    const client = await open(`${forgetful.url}/mcp`);
    forgetful.hide(true);
    expect((await call(client)).content[0]?.text).to.include("there is no wallet to pay with");
    forgetful.hide(false);
    expect((await call(client)).isError).to.not.equal(true);
  });

  it("does not ask whether it is a sandbox when it is told that it is none", async () => {
    const client = await startProxy(`${forgetful.url}/mcp`, spending, "--no-sandbox");
    clients.push(client);
    expect((await call(client)).content[0]?.text).to.include("there is no wallet to pay with");
  });

  it("sends the same payment again when answers are lost, so that one call is charged once", async () => {
    const client = await open(`${forgetful.url}/mcp`, { perDay: "0.001" });
    forgetful.lose(2);
    const answer = await call(client);
    expect(answer.isError, JSON.stringify(answer)).to.not.equal(true);
    expect(answer._meta?.["x402/payment-response"]).to.include({ success: true });
  });

  it("sends the same payment again after a restart, when its answer was lost", async () => {
    const terms = [`${forgetful.url}/mcp`, { perDay: "0.001" }] as const;
    const first = await open(...terms);
    forgetful.lose(1000);
    const left = call(first).catch(() => {});
    await eventually(() => forgetful.lost() > 0);
    await first.close();
    await left;
    forgetful.lose(0);
    const answer = await call(await open(...terms));
    expect(answer.isError, JSON.stringify(answer)).to.not.equal(true);
    expect(answer._meta?.["x402/payment-response"]).to.include({ success: true });
  });

  it("takes a challenge in a JSON-RPC error for what it is", async () => {
    const answer = await call(usual.old, { name: "dear", arguments: {} });
    expect(answer.isError).to.equal(true);
    expect(answer.content[0]?.text).to.match(
      /asks for payment, but it speaks only x402 version 1\. Nothing was paid\.$/,
    );
  });

  it("reads no answer without end", async () => {
    const { content } = await call(usual.old, { name: "endless", arguments: {} });
    expect(content[0]?.text).to.match(/ failed: it answered with more than \d+ bytes$/);
  });

  it("opens another session with a seller that has forgotten the first one", async () => {
    const { old: client } = usual;
    const TOOL = { name: "free", arguments: {} };
    expect((await call(client, TOOL)).content[0]?.text).to.equal("here");
    forgetting.forget();
    const answers = await Promise.all([call(client, TOOL), call(client, TOOL)]);
    expect(answers.map(({ content }) => content[0]?.text)).to.deep.equal(["here", "here"]);
  });

  it("waits for a seller as long as its work and its settlement may take", async () => {
    const { setTimeout } = globalThis;
    const waits: (number | undefined)[] = [];
    globalThis.setTimeout = Object.assign((...given: Parameters<typeof setTimeout>) => {
      waits.push(given[1]);
      return setTimeout(...given);
    }, setTimeout);
    await call(usual.old, { name: "free", arguments: {} }).finally(() => Object.assign(globalThis, { setTimeout }));
    const longest = manifestSchema.properties.deadline_seconds.maximum * 1000 + SETTLE_LIFE_MS;
    expect(Math.max(...waits.map((ms) => ms ?? 0))).to.be.above(longest);
  });

  it("keeps no stream of a session that was forgotten: it would go on when its client has left", async () => {
    const seller = await startForgettingSessions();
    const client = await openProxy(seller.url, spending);
    for (let session = 0; session < 3; session += 1) {
      seller.forget();
      await call(client, { name: "free", arguments: {} });
      await eventually(() => seller.streams() === 1);
    }
    await client.close();
    await eventually(() => seller.streams() === 0);
    seller.server.close();
  });

  it("says so when the seller cannot be reached, and why", async () => {
    const server = createServer(({ url }, outgoing) => {
      if (url === "/page") outgoing.writeHead(404).end("x".repeat(1e6));
      else outgoing.writeHead(307, { location: sandbox.url }).end();
    });
    const other = await listenOnLoopback(server);
    for (const [url, why, query = ""] of [
      ["http://127.0.0.1:9/mcp", "bad port", "?key=for-nobody-else"],
      [`${other}/page`, `it answers 404: ${"x".repeat(500)}`],
      [`${other}/mcp`, `it answers 307: Redirect to ${sandbox.url}/ not followed`],
    ] as const) {
      const answer = await call(await open(url + query));
      expect(answer.isError).to.equal(true);
      expect(answer.content[0]?.text).to.equal(`${url} cannot be reached: ${why}`);
    }
    server.close();
  });
});
