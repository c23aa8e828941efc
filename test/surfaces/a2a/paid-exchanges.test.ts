import { expect } from "chai";
import { createMcp } from "../../../runtime/surfaces/mcp/mcp.ts";
import { move } from "../../support/chains/scripted-rail.ts";
import { toDoorRequest } from "../../support/door-request.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { BASE_URL, type Door } from "./served/support/door.ts";
import { type ExchangeStage, isSigned, openExchanges } from "./served/support/exchange.ts";
import type { Peer } from "./served/support/peer.ts";

describe("an exchange between peers that was paid for", () => {
  let door: Door;
  let peer: Peer;
  let quote: ExchangeStage["quote"];
  let receipt: ExchangeStage["receipt"];
  let buy: ExchangeStage["buy"];
  beforeEach(async () => {
    ({ door, peer, quote, receipt, buy } = await openExchanges());
  });
  afterEach(() => door.close());

  it("has the settlement that we saw in its receipt", async () => {
    const { exchange_id } = (await quote()).result;
    const { outcome } = await buy("roll", exchange_id);
    expect(outcome.kind).to.equal("result");
    const { result } = await receipt({ exchange_id });
    expect(isSigned(result)).to.equal(true);
    const { observed_at, ...observed } = result.observed_settlement;
    expect(observed).to.deep.equal({
      transaction: outcome.receipt.transaction,
      network: "eip155:8453",
      asset: door.rails.base.manifest.asset,
      amount: "1000",
      payer: "0x1111111111111111111111111111111111111111",
    });
    expect(observed_at).to.be.within(result.quoted_at, result.quoted_at + 3600);
    expect(result.proves.join()).to.match(/saw observed_settlement/);
    expect(result.does_not_prove.join()).not.to.match(/anything was paid/);
  });

  it("names who has signed the payment, whomever the facilitator names, and when it names nobody", async () => {
    for (const payer of [`0x${"9".repeat(40)}`, undefined]) {
      door.rails.base.script.settle = (payment, offer) => {
        const { payer: _, ...settled } = move(door.rails.base, payment, offer);
        return { ...settled, ...(payer && { payer }) };
      };
      const { exchange_id } = (await quote()).result;
      const { payment } = (await buy("roll", exchange_id)) as Loose;
      const { observed_settlement } = (await receipt({ exchange_id })).result;
      expect(observed_settlement.payer).to.equal(payment.payload.authorization.from);
    }
  });

  it("has it in yen, too, and within a task of this door", async () => {
    const yen = (await quote()).result.exchange_id;
    const service = door.services[0]!;
    const unpaid: Loose = await door.invoke(service, {
      id: "x",
      input: async () => ({ value: {}, from: "body" }),
      payment: undefined,
      resource: `${BASE_URL}/v1/a2a`,
      signal: new AbortController().signal,
    });
    const { accepts, resource } = unpaid.challenge.required;
    const payment = door.pay({ accepts: [accepts[1]], resource });
    const message = {
      messageId: "m",
      role: "user",
      parts: [{ kind: "data", data: { skill: "roll", input: { low: 2, high: 3 } } }],
      metadata: { "x402.payment.payload": payment },
    };
    const { result: task } = await door.call("message/send", { message }, { "x-a2a-exchange": yen });
    expect(task.status.state).to.equal("completed");
    const { observed_settlement } = (await receipt({ exchange_id: yen })).result;
    expect(observed_settlement).to.include({ network: "eip155:137", amount: "100000000000000000" });
  });

  it("has it when the call came over MCP", async () => {
    const { exchange_id } = (await quote()).result;
    const { services, site, invoke } = door;
    const mcp = createMcp({ services, site, invoke, schemas: new Map(), baseUrl: BASE_URL, loopback: false });
    const headers = { host: "payphone.test", "content-type": "application/json", "x-a2a-exchange": exchange_id };
    const call = async (meta: object): Promise<Loose> => {
      const params = { name: "roll", arguments: { low: 1, high: 6 }, _meta: meta };
      const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
      return JSON.parse((await mcp.handle(toDoorRequest(message, { headers }))).body ?? "").result;
    };
    const { accepts, resource } = (await call({}))._meta["x402/error"];
    const paid = await call({ "x402/payment": door.pay({ accepts, resource }) });
    const { observed_settlement } = (await receipt({ exchange_id })).result;
    expect(observed_settlement.transaction).to.equal(paid._meta["x402/payment-response"].transaction);
  });

  it("has nothing of a call of another skill, at another price, or without an exchange", async () => {
    const { exchange_id } = (await quote()).result;
    await buy("twin", exchange_id);
    await buy("roll", undefined);
    await buy("roll", `ax-${"0".repeat(24)}`);
    expect((await receipt({ exchange_id })).result).not.to.have.property("observed_settlement");
    const dearer = `ax-${"1".repeat(24)}`;
    await door.exchanges.open(dearer, {
      peer: peer.origin,
      skill: "roll",
      price: "0.002",
      quoteDigest: "",
      quotedAt: 0,
    });
    await buy("roll", dearer);
    expect((await receipt({ exchange_id: dearer })).result).not.to.have.property("observed_settlement");
  });

  it("has nothing of a payment that is shown again in its name", async () => {
    const { payment } = await buy("roll", undefined);
    const { exchange_id } = (await quote()).result;
    const { outcome } = await buy("roll", exchange_id, payment);
    expect(outcome.kind, "the stored answer").to.equal("result");
    expect((await receipt({ exchange_id })).result).not.to.have.property("observed_settlement");
  });

  it("has the first settlement, when there are several", async () => {
    const { exchange_id } = (await quote()).result;
    const { outcome } = await buy("roll", exchange_id);
    await buy("roll", exchange_id);
    const { observed_settlement } = (await receipt({ exchange_id })).result;
    expect(observed_settlement.transaction).to.equal(outcome.receipt.transaction);
  });

  it("delivers the call, even when its settlement cannot be noted", async () => {
    const { exchange_id } = (await quote()).result;
    const { putIfAbsent } = door.store;
    door.store.putIfAbsent = (key, value, ttl) =>
      key.startsWith("a2a:observed:") ? Promise.reject(new Error("full")) : putIfAbsent(key, value, ttl);
    expect((await buy("roll", exchange_id)).outcome).to.deep.include({ kind: "result", output: { value: 1 } });
  });
});
