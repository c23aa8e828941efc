import { expect } from "chai";
import { BASE_URL, type Door } from "./served/support/door.ts";
import { type ExchangeStage, isSigned, openExchanges } from "./served/support/exchange.ts";
import type { Peer } from "./served/support/peer.ts";

const ID = /^ax-[0-9a-f]{24}$/;

describe("an exchange between peers", () => {
  let door: Door;
  let peer: Peer;
  let other: Peer;
  let quote: ExchangeStage["quote"];
  let receipt: ExchangeStage["receipt"];
  beforeEach(async () => {
    ({ door, peer, other, quote, receipt } = await openExchanges());
  });
  afterEach(() => door.close());

  it("begins with a signed quote, which is good for 900 seconds", async () => {
    const { result } = await quote();
    expect(isSigned(result)).to.equal(true);
    expect(result.exchange_id).to.match(ID);
    expect(result.expires_at - result.quoted_at).to.equal(900);
    expect(Math.abs(result.quoted_at - Date.now() / 1000)).to.be.below(60);
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
});
