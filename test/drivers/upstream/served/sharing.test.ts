import { expect } from "chai";
import { createFolder } from "../../../support/folder.ts";
import { withRedis } from "../../../support/programs.ts";
import { makeProjectShop } from "../../../support/sellers/project-shop.ts";
import { startRedis } from "../../../support/store/redis.ts";
import { openScene, priceOf, type Scene, type Shop } from "./support/scene.ts";

const BUYERS = 50; // As many as one payer may have in flight, with room.
const ETH = { symbol: "ETH" };

describe("what sources have said", () => {
  let scene: Scene;
  let dir: string;
  before(async () => {
    scene = await openScene();
    dir = await makeProjectShop({ services: ["price_token"], rails: ["base"] });
  });
  afterEach(() => scene.clear());
  after(() => scene?.close());

  it(`costs one question when ${BUYERS} buyers pay for the same price at once, and each of them pays`, async () => {
    const shop = await scene.open({ dir });
    const [asked, before] = [scene.source("coingecko").asked(), await received()];
    const answers = await shop.buyMany("price_token", ETH, BUYERS);
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(BUYERS).fill(200));
    expect(scene.source("coingecko").asked() - asked).to.equal(1);
    expect((await received()) - before).to.equal(BigInt(BUYERS) * priceOf("price_token"));
  });

  it("is known to a second process on the same SQLite file", async () => {
    const data = createFolder();
    const first = await scene.open({ dir, dataDir: data });
    await isShared(first, await scene.start({ dir, dataDir: data, baseUrl: first.url }));
  });

  withRedis.it("is known to a second server on the same Redis", async () => {
    const redis = await startRedis();
    try {
      const env = { REDIS_URL: redis.url };
      const first = await scene.open({ dir, env });
      await isShared(first, await scene.open({ dir, env }));
      await scene.clear();
    } finally {
      await redis.stop();
    }
  });

  async function isShared(first: Shop, second: Shop): Promise<void> {
    const { body } = await first.buy("price_token", ETH);
    const asked = scene.source("coingecko").asked();
    const again = await second.buy("price_token", ETH);
    expect(again.status).to.equal(200);
    expect(again.body.fetched_at).to.equal(body.fetched_at);
    expect(scene.source("coingecko").asked()).to.equal(asked);
  }

  const received = (): Promise<bigint> =>
    scene.sandbox.usdc.balanceOf(scene.sandbox.env.BASE_PAYMENT_ADDRESS ?? expect.fail("nobody is paid"));
});
