import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createBookAccess } from "../../runtime/cli/monitor/book-access.ts";
import { loadSet } from "../../runtime/cli/set/load.ts";
import { edit, makeDirectory, TOSS } from "../core/set/served-directory.ts";
import { sharedSandbox, type TestSandbox } from "../support/chains/chains.ts";
import { type FacilitatorProxy, startFacilitatorProxy } from "../support/chains/facilitator-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { createFolder } from "../support/folder.ts";
import { startLocalSeller } from "../support/sellers/local-seller.ts";
import { makeProjectShop } from "../support/sellers/project-shop.ts";
import { type Seller, startSeller } from "../support/sellers/seller.ts";
import { json, signFor, stockClient } from "../support/sellers/stock-buyer.ts";

const ROLL = { low: 1, high: 1_000_000_000 };
const CALLS = 20;
/** How many settlements are asked for before the end comes; more of them in `npm run test:crash`. */
const AFTER = process.env.CRASH_ROUNDS === undefined ? [1, 12] : [1, 4, 7, 12, 15, 19];

describe("a server that ends under load", () => {
  let sandbox: TestSandbox;
  let proxy: FacilitatorProxy;
  let seller: Seller;
  let buyer: Awaited<ReturnType<typeof stockClient>>;
  let dir: string;
  const data = createFolder();
  const start = async (port?: number, more: Record<string, string> = {}): Promise<void> => {
    const env = { FACILITATOR_URL: proxy.url, ...more };
    seller = await startSeller({ sandbox, dir, dataDir: data, env, ...(port !== undefined && { port }) });
  };
  const received = (): Promise<bigint> => sandbox.usdc.balanceOf(sandbox.env.BASE_PAYMENT_ADDRESS!);

  before(async () => {
    sandbox = await sharedSandbox();
    dir = await makeProjectShop({ services: ["roll"], rails: ["base"] });
    proxy = await startFacilitatorProxy(sandbox.description.facilitator);
    await start();
    buyer = await stockClient(sandbox, "base");
  });
  after(async () => {
    await seller.stop();
    await proxy.stop();
  });

  /** The headers of a payment that is sent later. */
  type Payment = Awaited<ReturnType<typeof sign>>;
  const sign = async () => signFor(buyer, await fetch(`${seller.url}/v1/roll`, json(ROLL)));
  const send = (payment: Payment): Promise<Response> => fetch(`${seller.url}/v1/roll`, json(ROLL, payment));
  /** Repeats the same payment until there is a final answer. */
  const insist = (payment: Payment): Promise<Response> =>
    eventually(
      () => send(payment).catch(() => Response.error()),
      ({ status }) => ![0, 409, 429, 503].includes(status),
      500,
    );

  for (const [signal, whole] of [
    ["SIGINT", "Ctrl+C that the terminal has sent"],
    ["SIGTERM", "SIGTERM that a supervisor has sent to the group"],
  ] as const)
    it(`answers the call in flight when npm passes on the ${whole}, too`, async () => {
      const payment = await sign();
      proxy.mishaps.settle = async (forward, response) => {
        for (let times = 0; times < 2; times += 1) {
          process.kill(seller.pid, signal);
          await fetch(`${seller.url}/health`).catch(() => undefined); // The signal has arrived.
        }
        const { status, body } = await forward();
        response.writeHead(status).end(body);
      };
      expect((await send(payment)).status).to.equal(200);
      await start(Number(new URL(seller.url).port));
    });

  for (const [signal, end, code] of [
    ["SIGTERM", () => seller.stop(), 0],
    ["kill -9", () => seller.kill(), undefined],
  ] as const)
    for (const settlements of AFTER)
      it(`with ${signal} delivers whatever was paid, and charges for nothing else (${settlements} settlements later)`, async () => {
        const payments = await Promise.all(Array.from({ length: CALLS }, sign));
        const before = await received();
        const reached = Promise.withResolvers<void>();
        let asked = 0;
        proxy.mishaps.settle = async (forward, response) => {
          if (++asked === settlements) reached.resolve();
          const { status, body } = await forward();
          response.writeHead(status).end(body);
        };
        const calls = payments.map((payment) =>
          send(payment).then(
            async (response) => (response.status === 200 ? response.text() : undefined),
            () => undefined,
          ),
        );
        await Promise.race([reached.promise, Promise.all(calls)]); // A busy machine may refuse some before they are settled.
        const ended = end();
        const first = await Promise.all(calls.map((call) => call.catch(() => undefined)));
        expect(await ended, "its exit code").to.equal(code);
        await start(Number(new URL(seller.url).port));
        const answers = await Promise.all(payments.map(insist));
        expect(answers.map(({ status }) => status)).to.deep.equal(Array(CALLS).fill(200));
        const texts = await Promise.all(answers.map((answer) => answer.text()));
        const different = first.filter((text, at) => text !== undefined && texts[at] !== text);
        expect(different, "answers that are others now").to.deep.equal([]);
        expect((await received()) - before, "each is charged once").to.equal(BigInt(CALLS) * 1000n);
      });

  it("with kill -9 right after its challenges were made, still takes payments for them to the address that they named", async () => {
    const [port, elsewhere] = [Number(new URL(seller.url).port), `0x${"de".repeat(20)}` as const];
    const payment = await sign();
    await seller.kill();
    const before = await received();
    await start(port, { BASE_PAYMENT_ADDRESS: elsewhere });
    const { accepts } = (await (await fetch(`${seller.url}/v1/roll`, { method: "POST" })).json()) as {
      accepts: { payTo: string }[];
    };
    expect(accepts[0]?.payTo.toLowerCase()).to.equal(elsewhere);
    expect((await insist(payment)).status).to.equal(200);
    expect((await received()) - before).to.equal(1000n);
  });
});

describe("a server that ends while a call takes longer than its grace", () => {
  it("charges nobody, counts the call as failed before it closes its book, and takes the payment after a restart", async () => {
    const sandbox = await sharedSandbox();
    const [dataDir, began] = [createFolder(), join(createFolder(), "began")];
    const waits = `toss({ coins }, { signal }) {
    if (coins === 7) return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      writeFileSync(${JSON.stringify(began)}, "");
    });`;
    const slow = edit(TOSS, "plugins/toss.ts", "toss({ coins }) {", waits);
    const dir = await makeDirectory(
      edit(slow, "plugins/toss.ts", "import", 'import { writeFileSync } from "node:fs";\nimport'),
    );
    const start = async () =>
      startLocalSeller({ sandbox, set: await loadSet(dir), dataDir, env: { LOG_LEVEL: "warn" } });
    const first = await start();
    const buyer = await stockClient(sandbox, "base");
    const body = { coins: 7 };
    const payment = await signFor(buyer, await fetch(`${first.url}/v1/toss`, json(body)));
    const before = await sandbox.usdc.balanceOf(sandbox.env.BASE_PAYMENT_ADDRESS!);
    const call = fetch(`${first.url}/v1/toss`, json(body, payment)).catch(() => "cut off");
    await eventually(() => existsSync(began));
    await first.stop();
    expect(await call).to.equal("cut off");
    expect(first.output(), "what could not be written any more").to.equal("");
    const books = createBookAccess({ dataDir, redisUrl: undefined });
    const counted = (await books.open()).tallies({ from: 0, to: Date.now() + 60_000 }).map(({ what }) => what);
    await books.close();
    expect(counted).to.include("failed:unavailable").and.not.include("left");
    const second = await start();
    const again = await fetch(`${second.url}/v1/toss`, json({ coins: 2 }, payment));
    await second.stop();
    expect(again.status, "the payment is free for another call").to.equal(200);
    expect((await sandbox.usdc.balanceOf(sandbox.env.BASE_PAYMENT_ADDRESS!)) - before).to.equal(10_000n);
  });
});
