import { expect } from "chai";
import { sharedSeller } from "../../../support/sellers/shared-seller.ts";
import { askRpc, createBuyer } from "../../../support/sellers/stock-buyer.ts";
import type { Loose } from "../../mcp/served/support/stall.ts";

const KEY = (name: string): string => `x402.payment.${name}`;
const INPUT = { low: 3, high: 3 };

describe("a client of the A2A x402 extension that reads version 1 of x402 alone", () => {
  const send = async (query: string, message: object): Promise<Loose> => {
    const { seller } = await sharedSeller();
    const params = { message: { kind: "message", messageId: "m", role: "user", parts: [], ...message } };
    return askRpc(`${seller.url}/v1/a2a${query}`, "message/send", params);
  };
  const begin = (query: string): Promise<Loose> =>
    send(query, { parts: [{ kind: "data", data: { skill: "roll", input: INPUT } }] });
  const requiredOf = ({ status }: Loose): Loose => status.message.metadata[KEY("required")];
  const toPayment = (payment: object): object => ({
    metadata: { [KEY("status")]: "payment-submitted", [KEY("payload")]: payment },
  });

  it("asks for it in the URL, and pays with the stock client", async () => {
    const { sandbox } = await sharedSeller();
    const task = await begin("?x402Version=1");
    const required = requiredOf(task);
    expect(required.x402Version).to.equal(1);
    expect(required.accepts[0]).to.include({ network: "base", maxAmountRequired: "1000" });
    const payment = await (await createBuyer(sandbox)).createPaymentPayload(required);
    expect(payment).to.include({ x402Version: 1, network: "base" });
    const done = await send("?x402Version=1", { taskId: task.id, contextId: task.contextId, ...toPayment(payment) });
    expect(done.status.state).to.equal("completed");
    expect(done.artifacts[0].parts[0].data).to.deep.include({ range: [3, 3] });
    expect(done.status.message.metadata[KEY("receipts")][0]).to.include({ success: true });
  });

  it("is refused in version 1, too, and finds its waiting task in it", async () => {
    const task = await begin("?x402Version=1");
    const { error, x402Version } = requiredOf(await send("?x402Version=1", { taskId: task.id, ...toPayment({}) }));
    expect(x402Version).to.equal(1);
    expect(error).to.match(/^invalid_payload/);
    const { seller } = await sharedSeller();
    const shown = await askRpc(`${seller.url}/v1/a2a?x402Version=1`, "tasks/get", { id: task.id });
    expect(requiredOf(shown).x402Version).to.equal(1);
    expect(requiredOf(await begin("")).x402Version, "others get version 2").to.equal(2);
  });
});
