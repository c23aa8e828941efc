import { expect } from "chai";
import { edit, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
import { type OperatedShop, openOperatedShop } from "../../../support/sellers/operator.ts";
import { createBuyer, json, signFor } from "../../../support/sellers/stock-buyer.ts";

const FIELDS = '"label": {';
const COINS = '"minimum": 1, "maximum": 100, "default": 1';
const STRICTER = '"minimum": 2, "maximum": 100, "default": 2';

describe("a service whose input schema changes", function () {
  this.timeout(120_000);
  let shop: OperatedShop;
  before(async () => {
    shop = await openOperatedShop();
  });
  after(() => shop.close());

  const post = (input: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${shop.running.url}/v1/toss`, json(input, headers));

  /** A payment, by its headers; with an identifier when the payer gives one. */
  async function sign(identifier?: string): Promise<Readonly<Record<string, string>>> {
    const named = { "payment-identifier": { info: { required: false, id: identifier } } };
    return signFor(await createBuyer(shop.sandbox), await post({}), (payment) =>
      identifier === undefined ? payment : { ...payment, extensions: named },
    );
  }

  /** Sells the service with another schema. */
  async function change(before: string, after: string): Promise<void> {
    await writeFiles(shop.dir, edit(TOSS, "schemas/TossRequest.json", before, after));
    const { times } = await shop.running.changes.apply("test");
    expect(times).not.to.equal(undefined);
  }

  const changes: readonly (readonly [what: string, before: string, after: string])[] = [
    ["a field with a default is new", FIELDS, `"edge": { "type": "boolean", "default": false }, ${FIELDS}`],
    ["a default is another one", COINS, '"minimum": 1, "maximum": 100, "default": 2'],
    ["its input is not taken any more", COINS, STRICTER],
  ];
  for (const [what, before, after] of changes)
    it(`still answers what was bought before: ${what}`, async () => {
      await writeFiles(shop.dir, TOSS);
      await shop.running.changes.apply("test");
      const given = { coins: 1, ...(what.includes("another") && { coins: undefined }) };
      const payment = await sign();
      const bought = await post(given, payment);
      const paid = { status: bought.status, answer: await bought.text() };
      expect(paid.status, paid.answer).to.equal(200);
      await change(before, after);
      const again = await post(given, payment);
      expect({ status: again.status, answer: await again.text() }).to.deep.equal(paid);
      expect(again.headers.get("payment-response")).not.to.equal(null);
      const other = await post({ coins: 7 }, payment);
      expect([other.status, ((await other.json()) as { code: string }).code]).to.deep.equal([409, "payment-conflict"]);
    });

  it("charges nothing for an input that it does not take any more", async () => {
    await writeFiles(shop.dir, TOSS);
    await shop.running.changes.apply("test");
    const payment = await sign();
    await change(COINS, STRICTER);
    expect((await post({ coins: 1 }, payment)).status).to.equal(422);
    expect((await post({ coins: 2 }, payment)).status).to.equal(200);
  });

  for (const [at, given] of [{}, { coins: 1 }].entries())
    it(`knows a purchase of ${JSON.stringify(given)} by its identifier, where the payment is signed anew`, async () => {
      await writeFiles(shop.dir, TOSS);
      await shop.running.changes.apply("test");
      const identifier = `the-same-purchase-${at}`;
      const bought = await post(given, await sign(identifier));
      expect(bought.status).to.equal(200);
      await change(COINS, STRICTER);
      const again = await post(given, await sign(identifier));
      expect([again.status, await again.text()]).to.deep.equal([200, await bought.text()]);
      const others = [await sign(identifier), await sign(`another-purchase-${at}`)];
      for (const other of others) expect((await post({ coins: 0 }, other)).status).to.equal(422);
    });
});
