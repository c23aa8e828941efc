import { expect } from "chai";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { type FacilitatorProxy, startFacilitatorProxy } from "../../support/chains/facilitator-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { withRedis } from "../../support/programs.ts";
import { makeProjectShop } from "../../support/sellers/project-shop.ts";
import { createDataDir, type Seller, startSeller } from "../../support/sellers/seller.ts";
import { json, receiptOf, stockFetch } from "../../support/sellers/stock-buyer.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";
import { removeDirectories } from "../set/served-directory.ts";

const ROLL = { low: 1, high: 1_000_000_000 };

/** The stock client's paid request, kept: so that exactly the same payment can be sent again. */
interface Kept {
  readonly url: string;
  readonly init: RequestInit;
}

describe("a payment and a crash", () => {
  let sandbox: TestSandbox;
  let proxy: FacilitatorProxy;
  let seller: Seller;
  let data: ReturnType<typeof createDataDir>;
  let dir: string;
  const start = (options: { port?: number; baseUrl?: string; env?: Record<string, string> } = {}): Promise<Seller> => {
    const env = { FACILITATOR_URL: proxy.url, ...options.env };
    return startSeller({ sandbox, dir, dataDir: data.path, ...options, env });
  };
  const portOf = ({ url }: Seller): number => Number(new URL(url).port);
  const received = (): Promise<bigint> => sandbox.usdc.balanceOf(sandbox.env.BASE_PAYMENT_ADDRESS!);

  before(async () => {
    sandbox = await sharedSandbox();
    dir = await makeProjectShop({ services: ["roll"], rails: ["base"] });
  });
  beforeEach(async () => {
    proxy = await startFacilitatorProxy(sandbox.description.facilitator);
    data = createDataDir();
  });
  afterEach(async () => {
    await seller?.kill().catch(() => {});
    await proxy.stop();
    data.remove();
  });
  after(removeDirectories);

  /** Lets the stock client make the payment, without sending it. */
  async function makePayment(): Promise<Kept> {
    let kept: Kept | undefined;
    const tapped: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      if (!request.headers.has("payment-signature")) return fetch(request);
      const signature = request.headers.get("payment-signature") as string;
      kept = {
        url: request.url,
        init: { ...json(ROLL), headers: { "content-type": "application/json", "payment-signature": signature } },
      };
      return new Response("{}", { status: 200 });
    };
    const pay = await stockFetch(sandbox, "base", tapped);
    const unsent = await pay(`${seller.url}/v1/roll`, json(ROLL));
    return kept ?? expect.fail(`no payment was made: ${unsent.status} ${await unsent.text()} ${seller.output()}`);
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
    seller = await start();
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
    seller = await start();
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

  it("never asks for another payment when a settlement is accepted and then times out", async () => {
    seller = await start();
    const kept = await makePayment();
    const before = await received();
    proxy.mishaps.settle = async (forward, response) => {
      await forward();
      response.destroy();
    };
    const response = await send(kept);
    expect(response.status, "the chain says that it is paid").to.equal(200);
    expect((await received()) - before).to.equal(1000n);
  });

  it("settles later what the facilitator could not settle now, once, and then delivers", async () => {
    seller = await start();
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

  it("finishes the calls in flight on SIGTERM, and ends with 0", async () => {
    seller = await start();
    const payments = await Promise.all(Array.from({ length: 10 }, makePayment));
    const before = await received();
    const reached = Promise.withResolvers<void>();
    const told = Promise.withResolvers<void>();
    proxy.mishaps.settle = async (forward, response) => {
      reached.resolve();
      await told.promise;
      const { status, body } = await forward();
      response.writeHead(status).end(body);
    };
    const calls = payments.map(send);
    await reached.promise;
    const code = seller.stop();
    await eventually(() =>
      fetch(`${seller.url}/healthz`).then(
        () => false,
        () => true,
      ),
    ); // It has begun to end.
    told.resolve();
    const answers = await Promise.all(calls.map((call) => call.catch(() => undefined)));
    expect(await code).to.equal(0);
    const served = answers.filter((answer) => answer?.status === 200).length;
    expect((await received()) - before, "whoever was charged was answered").to.equal(BigInt(served) * 1000n);
    expect(served).to.be.greaterThan(0);
  });

  describe("with two processes", () => {
    let twin: Seller | undefined;
    let redis: TestRedis | undefined;
    afterEach(async () => {
      await twin?.kill().catch(() => {});
      await redis?.stop();
      twin = undefined;
      redis = undefined;
    });

    const storm = async (): Promise<void> => {
      const kept = await makePayment();
      const before = await received();
      const settled = proxy.asked.settle;
      const urls = [kept.url, kept.url.replace(seller.url, (twin as Seller).url)];
      const copies = Array.from({ length: 200 }, (_, at) => send({ ...kept, url: urls[at % 2] as string }));
      const answers = await Promise.all(copies);
      expect(new Set(answers.map(({ status }) => status))).to.satisfy((seen: Set<number>) =>
        [...seen].every((status) => status === 200 || status === 409),
      );
      expect(proxy.asked.settle - settled, "one settlement").to.equal(1);
      expect((await received()) - before).to.equal(1000n);
      const [one, other] = await Promise.all(urls.map((url) => insist({ ...kept, url })));
      expect(await one?.json(), "one execution").to.deep.equal(await other?.json());
    };

    it("on one SQLite file, 200 copies of a payment are executed and settled once", async () => {
      seller = await start();
      twin = await start({ baseUrl: seller.url });
      await storm();
    });

    withRedis.it("on one Redis, 200 copies of a payment are executed and settled once", async () => {
      redis = await startRedis();
      seller = await start({ env: { REDIS_URL: redis.url } });
      twin = await start({ baseUrl: seller.url, env: { REDIS_URL: redis.url } });
      await storm();
    });

    withRedis.it("that lose their Redis fail closed, and recover with it", async () => {
      redis = await startRedis();
      seller = await start({ env: { REDIS_URL: redis.url } });
      const kept = await makePayment();
      const before = await received();
      await redis.kill();
      const response = await send(kept);
      expect(response.status).to.equal(503);
      expect((await received()) - before).to.equal(0n);
      await redis.restart();
      expect((await insist(kept)).status).to.equal(200);
      expect((await received()) - before).to.equal(1000n);
    });
  });
});
