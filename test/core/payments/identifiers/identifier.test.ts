import { expect } from "chai";
import type { PaymentRequirements, SettlementState } from "../../../../runtime/core/x402/x402.ts";
import { createScriptedRail, move, nonceOf, refuses } from "../../../support/chains/scripted-rail.ts";
import { openShop, ROLL, type Shop } from "../../../support/sellers/shop.ts";

const OTHER = { low: 1, high: 100 };
let serial = 0;
const newId = (): string => {
  serial += 1;
  return `pay_${String(serial).padStart(20, "0")}`;
};

describe("a payment with an identifier", () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  /** Signs anew, and sends it until the answer is final. */
  const buy = async (identifier: string, input: object = ROLL, from?: string, path = "/v1/roll"): Promise<Response> => {
    const payment = await shop.pay(path, { identifier, ...(from !== undefined && { from }) });
    return shop.retry(path, input, payment);
  };

  it("gets the stored answer for a new signature, which is never settled", async () => {
    const id = newId();
    const first = await buy(id);
    const second = await buy(id);
    expect(await second.json()).to.deep.equal(await first.json());
    expect(shop.receipt(second)).to.deep.equal(shop.receipt(first));
    expect(shop.executions).to.equal(1);
    expect(shop.rail.asked.settle).to.equal(1);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("gets the stored answer while another request works on it: any number of them get it at once", async () => {
    const id = newId();
    await buy(id);
    const { putIfAbsent } = shop.store;
    shop.store.putIfAbsent = async (key, ...rest) => !key.startsWith("lease:named:") && putIfAbsent(key, ...rest);
    const payment = await shop.pay("/v1/roll", { identifier: id });
    expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
  });

  it("gets the stored answer on MCP for what was bought on REST", async () => {
    const id = newId();
    const first = await (await buy(id)).json();
    const payment = JSON.parse(Buffer.from(await shop.pay("/v1/roll", { identifier: id }), "base64").toString());
    const params = {
      name: "roll",
      arguments: ROLL,
      _meta: { "x402/payment": { ...payment, resource: { url: `${shop.url}/mcp` } } },
    };
    const answer = await shop.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const { result } = (await answer.json()) as { result: { content: { text: string }[] } };
    expect(JSON.parse(result.content[0]!.text)).to.deep.equal(first);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is refused with 409 for another input or another service, and nothing is charged", async () => {
    const id = newId();
    await buy(id);
    for (const refused of [await buy(id, OTHER), await buy(id, ROLL, undefined, "/v1/echo")]) {
      expect(refused.status).to.equal(409);
      const problem = (await refused.json()) as { code: string; detail: string };
      expect(problem.code).to.equal("payment-conflict");
      expect(problem.detail).to.match(/payment-identifier.*another call.*nothing was charged/);
    }
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("buys nothing with an input that its service does not take, and can be used afterwards", async () => {
    const id = newId();
    for (const input of [{ low: "one", high: 6 }, {}]) {
      const refused = await buy(id, input);
      expect(refused.status).to.equal(422);
    }
    expect(shop.rail.asked).to.include({ verify: 0, settle: 0 });
    expect(shop.executions).to.equal(0);
    expect((await buy(id)).status).to.equal(200);
  });

  it("says 422 of an input that has no digest: half a character is no fault of ours", async () => {
    shop.rail.script.provePayer = async () => "key";
    const id = newId();
    await buy(id);
    const refused = await buy(id, { ...ROLL, label: "\ud800" });
    expect(refused.status).to.equal(422);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is another purchase for another payer, who cannot get the answer by naming it", async () => {
    const id = newId();
    shop.handler = (_input, call) => ({ value: call.payer === `0x${"33".repeat(20)}` ? 3 : 1 });
    expect(await (await buy(id)).json()).to.deep.equal({ value: 1 });
    expect(await (await buy(id, ROLL, `0x${"33".repeat(20)}`)).json()).to.deep.equal({ value: 3 });
    expect(shop.rail.moved.size).to.equal(2);
  });

  for (const [proof, isSame] of [
    ["key", true],
    ["contract", false],
  ] as const)
    it(`${isSame ? "gets the stored answer" : "is another purchase"} on another network, when a ${proof} has signed`, async () => {
      const there = createScriptedRail({ id: "polygon", network: "eip155:137" });
      await shop.close();
      shop = await openShop({ others: [there] });
      for (const rail of [shop.rail, there]) rail.script.provePayer = async () => proof;
      const identifier = newId();
      const challenge = (await (await shop.post("/v1/roll", {})).json()) as { accepts: PaymentRequirements[] };
      const answers = await Promise.all(
        challenge.accepts.map(async (offer) =>
          shop.retry("/v1/roll", ROLL, await shop.pay("/v1/roll", { identifier, change: () => offer })),
        ),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
      expect([shop.executions, shop.rail.moved.size + there.moved.size]).to.deep.equal(isSame ? [1, 1] : [2, 2]);
      const [one, other] = answers.map(shop.receipt);
      expect(one?.network === other?.network).to.equal(isSame);
    });

  it("gets nothing for a signature that does not verify", async () => {
    const id = newId();
    await buy(id);
    shop.rail.script.verify = () => ({ isValid: false, invalidReason: "invalid_exact_evm_payload_signature" });
    const forged = await buy(id);
    expect(forged.status).to.equal(402);
    expect(await forged.json()).not.to.have.property("value");
  });

  it("is told when the identifier is malformed, instead of being left without its protection", async () => {
    for (const identifier of ["short", "x".repeat(129), "spaces are not allowed"]) {
      const refused = await buy(identifier);
      expect(refused.status).to.equal(402);
      expect(((await refused.json()) as { error: string }).error).to.match(/^invalid_identifier/);
    }
  });

  it("is executed and settled once, for 50 signatures at the same moment", async () => {
    const id = newId();
    const payments: string[] = [];
    for (let at = 0; at < 50; at += 1) payments.push(await shop.pay("/v1/roll", { identifier: id }));
    const answers = await Promise.all(payments.map((payment) => shop.retry("/v1/roll", ROLL, payment)));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).to.equal(1);
    expect(shop.executions).to.equal(1);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is worked on by one of two signatures, where the money moves first", async () => {
    const id = newId();
    const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    shop.handler = async () => {
      begun.resolve();
      if (shop.executions === 1) await mayEnd.promise;
      return { value: 1, executions: 1 };
    };
    const first = buy(id, ROLL, undefined, "/v1/echo");
    await begun.promise;
    const payment = await shop.pay("/v1/echo", { identifier: id });
    const second = await shop.post("/v1/echo", ROLL, { "payment-signature": payment });
    mayEnd.resolve();
    expect([second.status, (await first).status, shop.executions]).to.deep.equal([409, 200, 1]);
  });

  for (const [who, isProven] of [
    ["this server", true],
    ["the facilitator", false],
  ] as const)
    it(`gets the stored answer while another signature fetches it, when ${who} proves the payer`, async () => {
      const id = newId();
      const first = await (await buy(id)).text();
      shop.rail.script.provePayer = async () => (isProven ? "key" : undefined);
      const anew = async (): Promise<Response> =>
        shop.post("/v1/roll", ROLL, { "payment-signature": await shop.pay("/v1/roll", { identifier: id }) });
      const [reading, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { get } = shop.store;
      shop.store.get = async (key) => {
        const value = await get(key);
        if (!key.startsWith("payment:") || value === undefined) return value as undefined;
        Object.assign(shop.store, { get });
        reading.resolve();
        await mayGoOn.promise;
        return value as never;
      };
      const one = anew();
      await reading.promise;
      expect(await (await anew()).text()).to.equal(first);
      mayGoOn.resolve();
      expect(await (await one).text()).to.equal(first);
      expect(shop.rail.moved.size).to.equal(1);
    });

  it("stands for the first payment while its settlement is unknown, and settles no other", async () => {
    const id = newId();
    shop.rail.script.settle = () => Promise.reject(new Error("timeout"));
    shop.rail.script.find = () => Promise.reject(new Error("the node is away"));
    const unknown = await buy(id);
    expect(await unknown.json()).to.have.property("code", "settlement-unknown");
    expect(await (await buy(id)).json()).to.have.property("code", "settlement-unknown");
    const settled: string[] = [];
    shop.rail.script = {
      settle: (payment, offer) => {
        settled.push(nonceOf(payment));
        return move(shop.rail, payment, offer);
      },
    };
    expect((await buy(id)).status).to.equal(200);
    expect(shop.rail.moved.size).to.equal(1);
    expect(new Set(settled).size).to.be.at.most(1);
  });

  it("takes a new payment only once the chain shows that the first can never be settled", async () => {
    const id = newId();
    let fate: SettlementState = { state: "open" };
    const dead = new Set<string>();
    shop.rail.script.settle = (payment, offer) => {
      if (dead.size === 0 || dead.has(nonceOf(payment))) {
        dead.add(nonceOf(payment));
        return refuses()(payment, offer);
      }
      return move(shop.rail, payment, offer);
    };
    shop.rail.script.find = (payment) => {
      const transaction = shop.rail.moved.get(nonceOf(payment));
      return transaction ? { state: "settled", transaction } : fate;
    };
    expect((await buy(id)).status).to.equal(402);
    const again = await buy(id);
    expect(again.status, "the first may still move").to.be.oneOf([402, 503]);
    expect(shop.rail.moved.size).to.equal(0);
    fate = { state: "dead" };
    expect((await buy(id)).status).to.equal(200);
    expect((await buy(id)).status).to.equal(200);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is not bought a second time when its answer is not kept any more", async () => {
    const id = newId();
    await buy(id);
    shop.clock.advance(3 * 60 * 60_000);
    const late = await buy(id);
    expect(late.status).to.equal(409);
    expect(((await late.json()) as { detail: string }).detail).to.match(/not kept any more/);
    expect(shop.rail.moved.size).to.equal(1);
  });
});
