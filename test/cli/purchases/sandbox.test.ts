import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { runPurchases } from "../../../runtime/cli/purchases/purchases.ts";
import { ROOT } from "../../core/set/served-directory.ts";
import { sharedSandboxServer } from "../../support/sellers/shared-sandbox-server.ts";
import { run } from "../call/run.ts";

describe("what payphone purchases says of a sandbox", () => {
  let sandbox: Awaited<ReturnType<typeof sharedSandboxServer>>;
  before(async () => {
    sandbox = await sharedSandboxServer();
  });

  it("is what the wallet has bought", async () => {
    const bought = JSON.parse((await run({ url: sandbox.url, json: true })).out);
    const out: string[] = [];
    const terminal = {
      out: (text: string) => void out.push(text),
      err: () => {},
      signal: new AbortController().signal,
    };
    const options = { id: undefined, url: sandbox.url, rail: undefined, json: true, dir: ROOT };
    expect(await runPurchases(readConfig({}), options, terminal)).to.equal(0);
    const [newest] = JSON.parse(out[0]!) as { id: string; transaction: string }[];
    expect(newest!.transaction).to.equal(bought.receipt.transaction);
    expect(await runPurchases(readConfig({}), { ...options, id: newest!.id }, terminal)).to.equal(0);
    expect(JSON.parse(out[1]!).answer).to.deep.equal(bought.result);
    expect(await runPurchases(readConfig({}), { ...options, json: false }, terminal)).to.equal(0);
    expect(out[2]).to.match(new RegExp(`^${newest!.id} +roll .* delivered +0\\.001 USDC +0x`, "m"));
  });

  it("is that there is no list, of a seller who keeps none", async () => {
    const options = { id: undefined, url: `${sandbox.url}/elsewhere`, rail: undefined, json: true, dir: ROOT };
    const terminal = { out: () => {}, err: () => {}, signal: new AbortController().signal };
    const asked = runPurchases(readConfig({ BUYER_EVM_KEY: `0x${"11".repeat(32)}` }), options, terminal);
    expect(await asked.catch((error: unknown) => error)).to.include({
      code: "not-found",
      message: "this seller has no list of purchases (GET /v1/purchases)",
    });
  });
});
