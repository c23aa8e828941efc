import { expect } from "chai";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { balance, CHAIN, PRICE, PRICES, stageRecord, success } from "./stage.ts";

const NOTHING = "0 exchanges: 0 of the same shape, 0 changed, 0 not recorded; no file written";

describe("payphone record", () => {
  const stage = stageRecord();
  const { exchangesOf, make, origin, record } = stage;

  it("is content with a part of the upstreams, and asks those alone that it is told to", async () => {
    await make({ [PRICES]: [success(PRICE, { json: {} })], [CHAIN]: [balance({ result: "0x1" })] });
    stage.live = { [`/api${PRICE}`]: { body: {} } };
    expect((await record()).hasFailed).to.equal(false);
    expect((await record({ ids: ["gecko"] })).report).to.match(/^gecko[^\n]+same shape\n1 exchange:/);
    const refused = await record({ ids: ["gekko"] }).catch(({ code, message }) => [code, message]);
    expect(refused).to.deep.equal([
      "bad-request",
      '"gekko" is no upstream of _site.yaml that has recordings; there are gecko, node',
    ]);
  });

  it("records nodes by calls, null and errors included, and does not take an error for a result", async () => {
    const reverted = { code: 3, message: "reverted", data: "0x" };
    const call = { rpc: { method: "call", params: [] } };
    await make({
      [CHAIN]: [
        balance({ result: { value: 1 } }),
        { case: "success:revert", request: call, response: { rpc_error: reverted } },
      ],
    });
    const env = { NODE_RPC_URL: `${origin()}/v2/secret-project-key` };
    stage.live = {
      getBalance: { body: { result: { value: 2 } } },
      call: { body: { error: { ...reverted, data: "0x08" } } },
    };
    expect((await record({ env })).hasFailed).to.equal(false);
    expect(exchangesOf(CHAIN).map(({ response }) => response)).to.deep.equal([
      { result: { value: 2 } },
      { rpc_error: { ...reverted, data: "0x08" } },
    ]);
    expect(stage.asked[0]?.path).to.equal("/v2/secret-project-key");
    expect(stage.asked[0]?.body).to.deep.include({ method: "getBalance", params: ["0x1"] });

    stage.live = { getBalance: { body: { error: reverted } }, call: { body: { result: null } } };
    const { report } = await record({ env });
    expect(report)
      .to.include("- result")
      .and.include("+ rpc_error.code")
      .and.match(/0 not recorded; no file written$/);
  });

  it("asks no upstream that the site does not list, and says so", async () => {
    await make({ "plugins/oracle/recordings/llm/a.json": [success("/chat", { json: {} })] });
    expect(await record()).to.deep.equal({
      report: `not asked, because _site.yaml does not list them: llm\n${NOTHING}`,
      hasFailed: false,
    });
    expect(await record({ ids: ["llm"] }).catch(({ code }) => code)).to.equal("bad-request");
  });

  it("asks each request once, and leaves a second answer to it as it is", async () => {
    await make({ [PRICES]: [success(PRICE, { json: [1] }), success(PRICE, { json: [] }, "empty")] });
    stage.live = { [`/api${PRICE}`]: { body: [2, 3] } };
    expect((await record()).hasFailed).to.equal(false);
    expect(stage.asked).to.have.length(1);
    expect(exchangesOf(PRICES).map(({ response }) => response.json)).to.deep.equal([[2, 3], []]);
  });

  it("has nothing to do, and does not fail, where there are no recordings", async () => {
    await make({});
    expect(await record()).to.deep.equal({
      report: NOTHING,
      hasFailed: false,
    });
  });

  it("does not begin with a set that has faults", async () => {
    const dir = await makeDirectory({});
    expect(await record({ dir }).catch(({ code }) => code)).to.equal("bad-request");
  });
});
