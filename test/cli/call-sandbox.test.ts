import { expect } from "chai";
import { ask, requirementsOn } from "../sandbox/buyer.ts";
import { sharedSandbox, type TestSandbox } from "../support/chains.ts";
import { run } from "./call-run.ts";
import { type Seller, startSeller } from "./call-seller.ts";

describe("payphone call in a sandbox", () => {
  let sandbox: TestSandbox;
  let seller: Seller;
  before(async function () {
    this.timeout(60_000);
    sandbox = await sharedSandbox();
    seller = await startSeller();
    seller.script.sandbox = { status: 200, body: sandbox.description };
  });
  after(() => seller?.stop());

  for (const rail of ["base", "solana"])
    it(`pays on ${rail} so that a real facilitator settles it`, async () => {
      const requirements = await requirementsOn(sandbox, rail, 1000n);
      seller.script.offers = [requirements];
      const { code, err } = await run({ url: seller.url, rail });
      expect(code, err).to.equal(0);
      const payment = seller.paid().at(-1)!.decoded;
      const { facilitator } = sandbox.description;
      expect(await ask(facilitator, "settle", payment, requirements)).to.include({ success: true });
    });

  it("says which RPC it needed when the chain does not answer", async () => {
    seller.script.sandbox = {
      status: 200,
      body: { ...sandbox.description, rpc: { solana: "http://127.0.0.1:9" } },
    };
    seller.script.offers = [await requirementsOn(sandbox, "solana", 1000n)];
    const before = seller.paid().length;
    const { code, err } = await run({ url: seller.url });
    expect([code, seller.paid().length]).to.deep.equal([1, before]);
    expect(err).to.match(/payphone: the payment could not be signed: .+\. Nothing was paid\.$/);
  });
});
