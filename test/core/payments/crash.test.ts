import { expect } from "chai";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { type FacilitatorProxy, startFacilitatorProxy } from "../../support/chains/facilitator-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { makeProjectShop } from "../../support/sellers/project-shop.ts";
import { untilRailsUp } from "../../support/sellers/rails-up.ts";
import { type Seller, startSeller } from "../../support/sellers/seller.ts";
import { json, receiptOf, signFor, stockClient } from "../../support/sellers/stock-buyer.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";

const ROLL = { low: 1, high: 1_000_000_000 };

/** The stock client's paid request, kept: so that exactly the same payment can be sent again. */
interface Kept {
  readonly url: string;
  readonly init: RequestInit;
}

describe("a payment and a crash", () => {
  let sandbox: TestSandbox;
  let proxy: FacilitatorProxy;
  /** It is started again by whoever has ended it. */
  let seller: Seller;
  let dir: string;
  const data = createFolder();
  const start = (options: { port?: number; baseUrl?: string; env?: Record<string, string> } = {}): Promise<Seller> => {
    const env = { FACILITATOR_URL: proxy.url, ...options.env };
    return startSeller({ sandbox, dir, dataDir: data, ...options, env });
  };
  const portOf = ({ url }: Seller): number => Number(new URL(url).port);
  const received = (): Promise<bigint> => sandbox.usdc.balanceOf(sandbox.env.BASE_PAYMENT_ADDRESS!);

  before(async () => {
    sandbox = await sharedSandbox();
    dir = await makeProjectShop({ services: ["roll"], rails: ["base"] });
    proxy = await startFacilitatorProxy(sandbox.description.facilitator);
    seller = await start();
  });
  afterEach(async () => {
    proxy.mishaps = {};
  });
  after(async () => {
    await seller?.kill();
    await proxy?.stop();
  });

  /** Lets the stock client make the payment, without sending it. */
  async function makePayment(at = seller): Promise<Kept> {
    await untilRailsUp(at.url);
    const url = `${at.url}/v1/roll`;
    const challenge = await fetch(url, json(ROLL));
    expect(challenge.status, at.output()).to.equal(402);
    return { url, init: json(ROLL, await signFor(await stockClient(sandbox, "base"), challenge)) };
  }

  const send = ({ url, init }: Kept): Promise<Response> => fetch(url, init);

  /** Repeats the same payment, as the answers tell, until there is a final one. */
  const insist = (kept: Kept): Promise<Response> =>
    eventually(
      () => send(kept).catch(() => Response.error()),
      ({ status }) => ![0, 409, 503].includes(status),
      200,
    );

  it("gives the paid result to the same payment after kill -9 between settlement and answer", async () => {
    const kept = await makePayment();
    const before = await received();
    proxy.mishaps.settle = async (forward) => {
      await forward(); // The money has moved …
      await seller.kill(); // … and nobody is left to say so.
    };
    expect(await send(kept).catch(() => "cut")).to.equal("cut");
    expect((await received()) - before).to.equal(1000n);
    delete proxy.mishaps.settle;
    seller = await start({ port: portOf(seller) });
    const first = await insist(kept);
    expect(first.status).to.equal(200);
    const roll = await first.json();
    expect(receiptOf(first))
      .to.have.property("transaction")
      .that.matches(/^0x[0-9a-f]{64}$/);
    const second = await insist(kept);
    expect(await second.json(), "the same answer, for ever").to.deep.equal(roll);
    expect((await received()) - before, "charged once").to.equal(1000n);
  });

  it("takes the payment as if nothing had been, after kill -9 before the settlement", async () => {
    const kept = await makePayment();
    const before = await received();
    proxy.mishaps.verify = async (forward) => {
      await forward();
      await seller.kill();
    };
    await send(kept).catch(() => "cut");
    delete proxy.mishaps.verify;
    seller = await start({ port: portOf(seller) });
    expect((await insist(kept)).status).to.equal(200);
    expect((await received()) - before).to.equal(1000n);
  });

  it("settles later what the facilitator could not settle now, once, and then delivers", async () => {
    const kept = await makePayment();
    const before = await received();
    proxy.mishaps.settle = async (_forward, response) => void response.writeHead(500).end("garbage");
    const unknown = await send(kept);
    expect(unknown.status).to.equal(503);
    expect(await unknown.json()).to.have.property("code", "settlement-unknown");
    expect((await received()) - before).to.equal(0n);
    delete proxy.mishaps.settle;
    expect((await insist(kept)).status).to.equal(200);
    expect((await received()) - before).to.equal(1000n);
  });

  /** 200 copies of one payment, at both processes in turn. */
  async function storm(seller: Seller, twin: Seller): Promise<void> {
    const kept = await makePayment(seller);
    const before = await received();
    const settled = proxy.asked.settle;
    const urls = [kept.url, kept.url.replace(seller.url, twin.url)];
    const copies = Array.from({ length: 200 }, (_, at) => send({ ...kept, url: urls[at % 2] as string }));
    const answers = await Promise.all(copies);
    expect(new Set(answers.map(({ status }) => status))).to.satisfy((seen: Set<number>) =>
      [...seen].every((status) => status === 200 || status === 409),
    );
    expect(proxy.asked.settle - settled, "one settlement").to.equal(1);
    expect((await received()) - before).to.equal(1000n);
    const [one, other] = await Promise.all(urls.map((url) => insist({ ...kept, url })));
    expect(await one?.json(), "one execution").to.deep.equal(await other?.json());
  }

  it("is executed and settled once, though 200 copies of it come to two processes on one SQLite file", async () => {
    const twin = await start({ baseUrl: seller.url });
    await storm(seller, twin).finally(twin.kill);
  });

  /** A payment comes while Redis is gone, and again when it is back. */
  async function takeAfter(redis: TestRedis, at: Seller): Promise<void> {
    const kept = await makePayment(at);
    const before = await received();
    await redis.kill();
    const response = await send(kept);
    expect(response.status).to.equal(503);
    expect((await received()) - before).to.equal(0n);
    await redis.restart();
    expect((await insist(kept)).status).to.equal(200);
    expect((await received()) - before).to.equal(1000n);
  }

  withRedis.it(
    "is executed and settled once by two processes on one Redis, and not taken while they have lost it",
    async () => {
      const redis = await startRedis();
      const env = { REDIS_URL: redis.url };
      const pair: Seller[] = [];
      try {
        const first = await start({ env });
        pair.push(first);
        const twin = await start({ baseUrl: first.url, env });
        pair.push(twin);
        await storm(first, twin);
        await takeAfter(redis, first);
      } finally {
        await Promise.all(pair.map(({ kill }) => kill()));
        await redis.stop();
      }
    },
  );
});
