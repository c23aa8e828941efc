import { expect } from "chai";
import { removeDirectories } from "../../core/set/served-directory.ts";
import { findFreePort } from "../../support/free-port.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json } from "../../support/sellers/stock-buyer.ts";

describe("a shop that starts", () => {
  let shop: OperatedShop | undefined;
  after(async () => {
    await shop?.close();
    await removeDirectories();
  });

  it("lets buyers wait who come before it can sell, and turns nobody away", async () => {
    const port = await findFreePort();
    const [opened, first] = await Promise.all([openOperatedShop(undefined, { PORT: String(port) }), askFirst(port)]);
    shop = opened;
    expect(first.status).to.equal(402);
    expect(((await first.json()) as { accepts: unknown[] }).accepts).not.to.have.length(0);
  });

  /** The answer to the first request that the port accepts. */
  async function askFirst(port: number): Promise<Response> {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/toss`, json({})).catch(() => undefined);
      if (answer) return answer;
      await new Promise((done) => setImmediate(done));
    }
  }
});
