import { expect } from "chai";
import { balance, CHAIN, KEY, PRICE, PRICES, stageRecord, success } from "./stage.ts";

describe("payphone record", () => {
  const stage = stageRecord();
  const { exchangesOf, make, origin, read, record } = stage;

  it("does not write a page for data", async () => {
    await make({ [PRICES]: [success(PRICE, { json: {} })] });
    stage.live = { [`/api${PRICE}`]: { body: "<html><br>Welcome" } };
    const { report, hasFailed } = await record();
    expect([hasFailed, report.includes("    the body: text, was object")]).to.deep.equal([true, true]);
    expect(report).to.match(/no file written$/);
  });

  it("does not take a failure for an answer, and goes on with the others", async () => {
    await make({
      [PRICES]: [success("/gone", { json: {} }), success("/paid", { json: {} }), success(PRICE, { json: {} })],
    });
    stage.live = {
      [`/api${PRICE}`]: { body: {} },
      "/api/paid": { status: 401, body: {} },
      "/api/gone": { status: 410, body: {} },
    };
    const before = exchangesOf(PRICES);
    expect((await record()).report.split("\n")).to.deep.equal([
      "gecko/prices.json  success  GET /gone                changed shape",
      "    status 410, was 200",
      "gecko/prices.json  success  GET /paid                not recorded",
      "    Gecko answered with status 401",
      "gecko/prices.json  success  GET /price?ids=a&vs=usd  same shape",
      "3 exchanges: 1 of the same shape, 1 changed, 1 not recorded; no file written",
    ]);
    expect(exchangesOf(PRICES)).to.deep.equal(before);
  });

  it("fails when nothing could be reached, and says why without showing an address", async () => {
    await make({ [PRICES]: [success(PRICE, { json: {} })], [CHAIN]: [balance({ result: "0x1" })] });
    const closed = "http://127.0.0.1:1/v2/secret-project-key";
    const { report, hasFailed } = await record({ env: { GECKO_URL: closed } });
    expect(hasFailed).to.equal(true);
    expect(report).to.include("    Gecko could not be reached, or broke off\n").and.not.include("127.0.0.1");
    expect(report).to.include("    Node needs NODE_RPC_URL, which is not set\n");
  });

  it("does not record a refusal for being asked too often", async () => {
    await make({ [PRICES]: [success(PRICE, { json: {} })] });
    stage.live = { [`/api${PRICE}`]: { status: 429, headers: { "retry-after": "60" }, body: { error: "slow down" } } };
    const { report, hasFailed } = await record();
    expect([hasFailed, stage.asked.length]).to.deep.equal([true, 1]);
    expect(report)
      .to.include("    Gecko has been asked too often\n")
      .and.match(/no file written$/);
  });

  it("does not write an answer that repeats a credential", async () => {
    await make({ [PRICES]: [success(PRICE, { json: { url: "" } })], [CHAIN]: [balance({ result: "" })] });
    const NODE_RPC_URL = `${origin()}/v2/secret-project-key?token=another-secret`.replace(
      "//",
      "//name-of-operator:his-password@",
    );
    for (const echo of [KEY, "secret-project-key", "another-secret", "name-of-operator", "his-password"]) {
      stage.live = { [`/api${PRICE}`]: { body: { url: echo } }, getBalance: { body: { result: echo } } };
      const { report } = await record({ env: { GECKO_KEY: KEY, NODE_RPC_URL } });
      expect(report.match(/the answer repeats a credential/g)).to.have.length(2);
      expect(`${await read(PRICES)}${await read(CHAIN)}${report}`).not.to.include(echo);
    }
  });

  it("does not write a credential that comes in a header, or in other letters", async () => {
    await make({ [PRICES]: [success(PRICE, { headers: { "x-echo": "" }, json: {} })] });
    const before = await read(PRICES);
    const env = { GECKO_KEY: "demo/key/of/an/operator" };
    stage.live = { [`/api${PRICE}`]: { headers: { "x-echo": `for ${env.GECKO_KEY}` }, body: {} } };
    expect((await record({ env })).report).to.include("the answer repeats a credential");
    stage.live = { [`/api${PRICE}`]: { body: String.raw`{"error":"demo\/key\/of\/an\/operator"}` } };
    expect((await record({ env })).report).to.include("the answer repeats a credential");
    expect(await read(PRICES)).to.equal(before);
  });
});
