import { expect } from "chai";
import { TOSS } from "../../core/set/served-directory.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { openOperatedShop } from "../../support/sellers/operator.ts";
import { json, stockFetch } from "../../support/sellers/stock-buyer.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";

withRedis.describe("the seller's page and `payphone sales` after Redis has lost the book", () => {
  const data = createFolder();
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  it("say where the sales are that they do not show any more", async () => {
    const open = () => openOperatedShop(TOSS, { REDIS_URL: redis.url, PAYPHONE_DATA_DIR: data });
    const first = await open();
    const pay = await stockFetch(first.sandbox, "base");
    expect((await pay(`${first.running.url}/v1/toss`, json({}))).status).to.equal(200);
    expect(await (await first.admin("/")).text())
      .to.match(/<dt>Sales<\/dt><dd>1</)
      .and.not.to.include("no longer has the book");
    await first.close();
    await redis.restart({ isEmpty: true });
    const second = await open();
    const page = await (await second.admin("/")).text();
    await second.close();
    const env = { REDIS_URL: redis.url, PAYPHONE_DATA_DIR: data };
    const sales = await runPayphone(["sales", "--dir", second.dir], env);
    expect(sales.out).to.equal("nothing was sold\n");
    expect(sales.err).to.match(
      /^Redis no longer has the book.*: book\.sqlite\.lost-\d+ in the data directory is its copy$/m,
    );
    expect(page)
      .to.match(/<dt>Sales<\/dt><dd>0</)
      .and.to.match(/Redis no longer has the book.*: book\.sqlite\.lost-\d+ in the data directory/);
  });
});
