import { expect } from "chai";
import type { ValidationIssue } from "../../runtime/api/problem.ts";
import { openJobShop } from "../support/sellers/job-shop.ts";
import { openShop, type Shop } from "../support/sellers/shop.ts";

describe("the faults of an input", () => {
  let shop: Shop;
  before(async () => {
    shop = await openShop();
  });
  after(() => shop.close());

  const faultsOf = async (response: Response): Promise<string[]> => {
    expect(response.status).to.equal(422);
    const { detail } = (await response.json()) as { detail: readonly ValidationIssue[] };
    return detail.map(({ loc, type }) => `${loc.join(".")} ${type}`);
  };
  const roll = async (input: object): Promise<string[]> => faultsOf(await shop.buy("/v1/roll", input));

  it("are told all at once: the schema's and the handler's", async () => {
    expect(await roll({ low: 5, high: 1, count: 0 })).to.deep.equal([
      "body.count greater_than_equal",
      "body.high value_error",
    ]);
  });

  it("are the schema's alone where a value is not of the type that the handler's rules need", async () => {
    expect(await roll({ low: 5, high: [1] })).to.deep.equal(["body.high int_type"]);
    expect(await roll({ low: 5 })).to.deep.equal(["body.high missing"]);
  });

  it("stand in the query where the input came from there", async () => {
    const payment = await shop.pay("/v1/roll");
    const url = `${shop.url}/v1/roll?low=5&high=1&count=0`;
    expect(await faultsOf(await fetch(url, { headers: { "payment-signature": payment } }))).to.deep.equal([
      "query.count greater_than_equal",
      "query.high value_error",
    ]);
  });

  it("stand in the path where the field does", async () => {
    const jobs = await openJobShop();
    expect(await faultsOf(await fetch(`${jobs.url}/v1/search/${"x".repeat(129)}`))).to.deep.equal([
      "path.job_id string_too_long",
    ]);
    await jobs.close();
  });

  it("do not repeat a value that is long", async () => {
    const response = await shop.buy("/v1/roll", { low: 5, high: 1, label: "x".repeat(50_000) });
    expect((await response.text()).length).to.be.below(5_000);
  });
});

describe("null in an optional field", () => {
  it("is the same call as a field that is left out", async () => {
    const shop = await openShop();
    const payment = await shop.pay("/v1/roll");
    const inputs = [
      { low: 1, high: 6, label: null },
      { low: 1, high: 6 },
      { low: 1, high: 6, count: null },
    ];
    const answers: unknown[] = [];
    for (const input of inputs) {
      const response = await shop.post("/v1/roll", input, { "payment-signature": payment });
      expect(response.status).to.equal(200);
      answers.push(await response.json());
    }
    expect(answers).to.deep.equal(Array(3).fill(answers[0]));
    expect(shop.executions).to.equal(1);
    await shop.close();
  });

  it("is data where no field is named", async () => {
    const shop = await openShop();
    const payment = await shop.pay("/v1/roll");
    const call = (data: object): Promise<Response> =>
      shop.post("/v1/roll", { low: 1, high: 6, data }, { "payment-signature": payment });
    expect((await call({ a: null })).status).to.equal(200);
    expect((await call({})).status).to.equal(409);
    await shop.close();
  });
});
