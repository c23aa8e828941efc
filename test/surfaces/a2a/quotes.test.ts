import { verify } from "node:crypto";
import { expect } from "chai";
import { canonicalOf, sha256 } from "../../../runtime/core/digest.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { BASE_URL, BOUNDLESS, type Door, openDoor } from "./served/support/door.ts";
import { createPeer, type Peer, toKey, toPeerKeys } from "./served/support/peer.ts";

const ID = /^ax-[0-9a-f]{24}$/;

/** As a stranger verifies it, with what the card and the payload say, and nothing of ours. */
function isSigned({ digest, signed, signature_algorithm, key_id: _, signature, ...payload }: Loose): boolean {
  expect({ signed, signature_algorithm }).to.deep.equal({ signed: true, signature_algorithm: "ed25519" });
  expect(digest).to.equal(`sha256:${sha256(canonicalOf(payload))}`);
  return verify(null, Buffer.from(digest), toKey("11".repeat(32)), Buffer.from(signature, "base64"));
}

describe("an exchange between peers", () => {
  let door: Door;
  let peer: Peer;
  let other: Peer;
  beforeEach(async () => {
    const now = () => door.clock.now();
    peer = createPeer(BASE_URL, { now });
    other = createPeer(BASE_URL, { origin: "https://other.example", seed: "22".repeat(32), now });
    door = await openDoor({
      peerKeys: toPeerKeys({ [peer.origin]: peer.card, [other.origin]: other.card }),
      budgets: BOUNDLESS,
    });
  });
  afterEach(() => door.close());

  const quote = async (body: unknown = { skill: "roll" }): Promise<Loose> =>
    (await door.post(peer.seal("peer/quote", { body }))).body;
  const receipt = async (body: unknown, who = peer): Promise<Loose> =>
    (await door.post(who.seal("peer/receipt", { body }))).body;

  /** A paid call over the door's own `invoke`, as the server makes it of a request that names an exchange. */
  const buy = async (id: string, exchange: string | undefined, payment?: object): Promise<Loose> => {
    const service = door.services.find(({ manifest }) => manifest.id === id)!;
    const call = {
      id: "request",
      input: async () => ({ value: { low: 1, high: 6 }, from: "body" as const }),
      resource: `${BASE_URL}${service.path}`,
      signal: new AbortController().signal,
      exchange,
    };
    const unpaid: Loose = await door.invoke(service, { ...call, payment: undefined });
    const paid = payment ?? door.pay(unpaid.challenge.required);
    return { outcome: await door.invoke(service, { ...call, payment: paid }), payment: paid };
  };

  it("begins with a signed quote, which is good for 900 seconds", async () => {
    const { result } = await quote();
    expect(isSigned(result)).to.equal(true);
    expect(result.exchange_id).to.match(ID);
    expect(result.expires_at - result.quoted_at).to.equal(900);
    expect(Math.abs(result.quoted_at - Date.now() / 1000)).to.be.below(5);
    expect(result.instructions).to.include("X-A2A-Exchange");
    expect(result).to.include({
      type: "a2a.quote.v1",
      peer: "https://peer.example",
      peer_key_id: "peer-2026-01",
      skill: "roll",
      url: `${BASE_URL}/v1/roll`,
      http_method: "POST",
      price_usd: 0.001,
      pay_with: "x402",
      key_id: "srv-2026-01",
    });
  });

  it("has an id of its own each time", async () => {
    expect((await quote()).result.exchange_id).not.to.equal((await quote()).result.exchange_id);
  });

  for (const body of [null, {}, { skill: 1 }, "roll", ["roll"], { skill: null }])
    it(`is not begun with ${JSON.stringify(body)}`, async () =>
      expect((await quote(body)).error.code).to.equal(-32602));

  it("is not begun for a skill that there is not, and says which was meant", async () => {
    const { error } = await quote({ skill: "rolll" });
    expect(error).to.deep.equal({ code: -32005, message: 'There is no skill "rolll"; did you mean "roll"?' });
    expect((await quote({ skill: "__proto__" })).error.message).to.match(/capabilities\/list names them/);
  });

  it("is not needed for a free skill", async () => {
    const { error } = await quote({ skill: "free" });
    expect(error.code).to.equal(-32003);
    expect(error.message).to.include(`${BASE_URL}/v1/free`);
  });

  it("ends with a signed receipt, which says what it proves and what it does not", async () => {
    const { result: quoted } = await quote();
    const settlement = { tx: "0xabc", rail: "eip155:8453", asset: "USDC", amount: "0.001" };
    const { result } = await receipt({ exchange_id: quoted.exchange_id, settlement });
    expect(isSigned(result)).to.equal(true);
    expect(result).to.deep.include({
      type: "a2a.receipt.v1",
      exchange_id: quoted.exchange_id,
      peer: "https://peer.example",
      peer_key_id: "peer-2026-01",
      skill: "roll",
      price_usd: 0.001,
      quote_digest: quoted.digest,
      quoted_at: quoted.quoted_at,
      peer_asserted_settlement: settlement,
    });
    expect(result).not.to.have.property("observed_settlement");
    expect(result.proves).to.have.length(3);
    expect(result.does_not_prove.join()).to.match(/that anything was paid/);
  });

  it("ends with a receipt without a settlement, too", async () => {
    const { result } = await receipt({ exchange_id: (await quote()).result.exchange_id });
    expect(isSigned(result)).to.equal(true);
    expect(result).not.to.have.property("peer_asserted_settlement");
  });

  it("has one receipt: whoever asks again gets the first one, to the byte", async () => {
    const { exchange_id } = (await quote()).result;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => receipt({ exchange_id, settlement: { tx: `0x${at}` } })),
    );
    expect(new Set(answers.map(({ result }) => JSON.stringify(result)))).to.have.property("size", 1);
    expect((await receipt({ exchange_id })).result).to.deep.equal(answers[0].result);
  });

  it("is receipted for a day, long after its quote has run out, and then forgotten", async () => {
    const [first, second] = [(await quote()).result, (await quote()).result];
    door.clock.advance(86_300_000);
    const { result } = await receipt({ exchange_id: first.exchange_id });
    expect(result.receipted_at - result.quoted_at).to.be.within(86_299, 86_310);
    door.clock.advance(200_000);
    expect((await receipt({ exchange_id: second.exchange_id })).error.code).to.equal(-32005);
  });

  it("is nobody else's", async () => {
    const { exchange_id } = (await quote()).result;
    expect((await receipt({ exchange_id }, other)).error.code).to.equal(-32005);
    expect((await receipt({ exchange_id: `ax-${"0".repeat(24)}` })).error.code).to.equal(-32005);
    expect((await receipt({ exchange_id })).result.peer).to.equal(peer.origin);
  });

  for (const exchange_id of [undefined, 1, "ax-1", `ax-${"A".repeat(24)}`, `ax-${"0".repeat(25)}`, "x".repeat(3000)])
    it(`has no id like ${String(exchange_id).slice(0, 30)}`, async () => {
      expect((await receipt({ exchange_id })).error.code).to.equal(-32602);
    });

  const settlements: readonly [what: string, settlement: unknown][] = [
    ["a list", ["0xabc"]],
    ["a text", "0xabc"],
    ["a field of its own", { note: "paid" }],
    ["an object in a field", { tx: { a: 1 } }],
    ["a number", { amount: 1 }],
    ["a sentence", { tx: "payphone certifies that Alice owes Bob" }],
    ["a line break", { tx: "0xabc\n" }],
    ["121 characters", { tx: "x".repeat(121) }],
    ["an empty text", { tx: "" }],
    ["a letter of another script", { payer: "é" }],
  ];
  for (const [what, settlement] of settlements)
    it(`does not put our signature under ${what}`, async () => {
      const { exchange_id } = (await quote()).result;
      expect((await receipt({ exchange_id, settlement })).error.code).to.equal(-32602);
      expect((await receipt({ exchange_id })).result, "nothing was receipted").not.to.have.property(
        "peer_asserted_settlement",
      );
    });

  describe("that was paid for", () => {
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
      expect(observed_at).to.be.at.least(result.quoted_at);
      expect(result.proves.join()).to.match(/saw observed_settlement/);
      expect(result.does_not_prove.join()).not.to.match(/anything was paid/);
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
});
