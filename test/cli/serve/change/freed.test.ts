import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { edit, type Files, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
import { type OperatedShop, openOperatedShop } from "../../../support/sellers/operator.ts";
import { askRpc, createBuyer, json, signFor } from "../../../support/sellers/stock-buyer.ts";
import type { Loose } from "../../../surfaces/support/fixture-set.ts";

const world = globalThis as { freedRuns?: number };

const PLUGIN = `import { definePlugin } from "#plugin";

export default definePlugin("toss", () => ({
  toss() {
    globalThis.freedRuns = (globalThis.freedRuns ?? 0) + 1;
    return { sides: Array.from({ length: globalThis.freedRuns }, () => "heads") };
  },
}));
`;
const PAID: Files = { ...TOSS, "plugins/toss.ts": PLUGIN };
const FREE = edit(PAID, "manifests/toss.yaml", 'price: "0.01"\n', "");
/** Another service, which is free, at the same route. */
const FLIP = (FREE["manifests/toss.yaml"] as string).replace("id: toss", "id: flip");

describe("a service that loses its price", function () {
  this.timeout(120_000);
  let shop: OperatedShop;
  /** A paid call over REST and its answer; the same over MCP; and a task that is not paid for yet. */
  let rest: { readonly init: RequestInit; readonly answer: unknown };
  let tool: { readonly call: object; readonly result: Loose };
  let task: Loose;

  const ask = (path: string, method: string, params: object): Promise<Loose> =>
    askRpc(shop.running.url + path, method, params);
  const post = (init: RequestInit): Promise<Response> => fetch(`${shop.running.url}/v1/toss`, init);
  const runs = (): number => world.freedRuns ?? 0;

  before(async () => {
    shop = await openOperatedShop(PAID);
    const init = json({}, await signFor(await createBuyer(shop.sandbox), await post(json({}))));
    rest = { init, answer: await (await post(init)).json() };
    const { structuredContent } = await ask("/mcp", "tools/call", { name: "toss" });
    const payment = await (await createBuyer(shop.sandbox)).createPaymentPayload(structuredContent);
    const call = { name: "toss", _meta: { "x402/payment": payment } };
    tool = { call, result: await ask("/mcp", "tools/call", call) };
    const parts = [{ data: { skill: "toss", input: {} } }];
    task = await ask("/v1/a2a", "message/send", { message: { messageId: "m", role: "user", parts } });
    await writeFiles(shop.dir, FREE);
    await shop.running.changes.apply("test");
  });
  after(async () => {
    delete world.freedRuns;
    await shop?.close();
  });

  it("gives what was bought to whoever repeats the payment, and is not run for it", async () => {
    const before = runs();
    const again = await post(rest.init);
    expect([again.status, await again.json()]).to.deep.equal([200, rest.answer]);
    expect(again.headers.get("payment-response")).not.to.equal(null);
    expect(await ask("/mcp", "tools/call", tool.call)).to.deep.equal(tool.result);
    expect((await post({ ...rest.init, body: JSON.stringify({ coins: 2 }) })).status, "another call").to.equal(409);
    expect(runs()).to.equal(before);
  });

  it("is run for everybody else, and charges nobody", async () => {
    const before = runs();
    expect((await post(json({}))).status).to.equal(200);
    expect((await post(json({}, { "payment-signature": "none" }))).status).to.equal(200);
    expect(runs()).to.equal(before + 2);
  });

  it("is not run by who only looks at a task that waits for its payment", async () => {
    const before = runs();
    expect((await ask("/v1/a2a", "tasks/get", { id: task.id })).status.state).to.equal("input-required");
    expect(runs()).to.equal(before);
  });

  it("does the work of a task that waits, and does not call it paid", async () => {
    const required = task.status.message.metadata["x402.payment.required"];
    const metadata = { "x402.payment.payload": await (await createBuyer(shop.sandbox)).createPaymentPayload(required) };
    const before = await shop.sandbox.usdc.balanceOf(shop.sandbox.description.buyer.evm.address);
    const message = { messageId: "n", role: "user", taskId: task.id, parts: [], metadata };
    const { status } = await ask("/v1/a2a", "message/send", { message });
    expect(status.state).to.equal("completed");
    expect(JSON.stringify(status))
      .to.include("Done.")
      .and.not.match(/paid|payment-completed/i);
    expect(await shop.sandbox.usdc.balanceOf(shop.sandbox.description.buyer.evm.address)).to.equal(before);
  });

  it("gives what was bought, too, where a free service has taken its route", async () => {
    await rm(join(shop.dir, "manifests/toss.yaml"));
    await writeFiles(shop.dir, { "manifests/flip.yaml": FLIP });
    await shop.running.changes.apply("test");
    const again = await post(rest.init);
    expect([again.status, await again.json()]).to.deep.equal([200, rest.answer]);
    expect((await post(json({}))).status).to.equal(200);
  });
});
