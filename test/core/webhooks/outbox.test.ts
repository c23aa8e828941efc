import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { mock } from "node:test";
import { expect } from "chai";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { createDeliveries, type Delivery } from "../../../runtime/core/webhooks/deliveries.ts";
import type { WebhookEvent } from "../../../runtime/core/webhooks/events.ts";
import { createOutbox, type Outbox } from "../../../runtime/core/webhooks/outbox.ts";
import { createLog } from "../../../runtime/drivers/log.ts";
import { createPostWebhook } from "../../../runtime/drivers/webhooks/post.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const HOUR_MS = 3_600_000;
const SECRET = `whsec_${Buffer.alloc(24, "a").toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(24, "b").toString("base64")}`;

const toSale = (id: string): WebhookEvent => ({ id, type: "sale", at: Date.now(), data: { id, usd: "0.001" } });

interface Message {
  readonly headers: Record<string, string>;
  readonly body: string;
}

describe("webhooks", () => {
  let server: Server;
  let shiftMs: number;
  let status: number;
  /** The receiver answers after this. */
  let answered: Promise<void> | undefined;
  let store: ReturnType<typeof createMemoryStore>;
  const messages: Message[] = [];
  const logged: { readonly event: string; readonly retryMs?: number }[] = [];
  const open: Outbox[] = [];
  const clock = { now: () => Date.now() + shiftMs };

  before(async () => {
    server = createServer(async (request, response) => {
      messages.push({ headers: request.headers as Message["headers"], body: await text(request) });
      await answered;
      response.writeHead(status, { location: "/elsewhere" }).end("thanks");
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
  });
  after(() => server.close());
  beforeEach(() => {
    messages.length = logged.length = 0;
    shiftMs = 0;
    status = 204;
    answered = undefined;
    store = createMemoryStore(clock.now);
  });
  const close = async (): Promise<void> => {
    for (const outbox of open.splice(0)) await outbox.close();
  };
  afterEach(close);

  /** A process that tells one receiver; `sweepMs` is short, and waits are those of the shifted clock. */
  function start({ secrets = [SECRET], user = "" }: { secrets?: string[]; user?: string } = {}): Outbox {
    const url = `http://${user}127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
    const post = createPostWebhook({ targets: new Map([["books", { url, secrets }]]), clock });
    const outbox = createOutbox({
      endpoints: [{ id: "books" }],
      post,
      store,
      clock,
      log: createLog({ destination: { write: (line) => logged.push(JSON.parse(line)) } }),
      sweepMs: 20,
    });
    outbox.start();
    open.push(outbox);
    return outbox;
  }
  const restart = (): Promise<Outbox> => close().then(() => start());
  const received = (count: number) => eventually(() => messages.length >= count && messages) as Promise<Message[]>;
  const waiting = async (): Promise<number> => {
    let count = 0;
    for await (const _ of createDeliveries(store).list("books")) count += 1;
    return count;
  };

  /** The delivery, once it has failed so often. */
  const failures = (count: number) => eventually(read, (delivery) => delivery?.failures === count) as Promise<Delivery>;
  const read = () => createDeliveries(store).read("books:sale_1");
  const toOld = (failures: number): Delivery => {
    const [event, now] = [toSale("sale_1"), clock.now()];
    return { endpoint: "books", event, since: now - 24 * HOUR_MS, failures, notBefore: now };
  };

  it("are signed so that the official library verifies them, and nobody without the secret", async () => {
    await start().publishTo("books", toSale("sale_1"));
    const [{ headers, body }] = (await received(1)) as [Message];
    expect(new Webhook(SECRET).verify(body, headers)).to.deep.include({
      type: "sale",
      data: { id: "sale_1", usd: "0.001" },
    });
    expect(headers["webhook-id"]).to.equal("sale_1");
    expect(() => new Webhook(OTHER).verify(body, headers)).to.throw(WebhookVerificationError);
    expect(() => new Webhook(SECRET).verify(body.replace("0.001", "1000"), headers)).to.throw(WebhookVerificationError);
  });

  it("reach a receiver behind a password, which their URL has", async () => {
    await start({ user: "shop:s%40lt%@" }).publishTo("books", toSale("sale_1"));
    const [{ headers }] = (await received(1)) as [Message];
    expect(headers.authorization).to.equal(`Basic ${Buffer.from("shop:s@lt%").toString("base64")}`);
  });

  it("are signed with both secrets while one replaces the other", async () => {
    await start({ secrets: [OTHER, SECRET] }).publishTo("books", toSale("sale_1"));
    const [{ headers, body }] = (await received(1)) as [Message];
    for (const secret of [SECRET, OTHER])
      expect(new Webhook(secret).verify(body, headers)).to.include({ type: "sale" });
  });

  it("reach a receiver that was away for an hour, with the same id and a new time, also after a restart", async () => {
    status = 503;
    await start().publishTo("books", toSale("sale_1"));
    let failed = 1;
    for (; shiftMs < HOUR_MS; failed += 1) {
      await failures(failed);
      shiftMs += ((await read())?.notBefore ?? 0) - clock.now();
      await restart();
    }
    const { notBefore } = await failures(failed);
    expect(messages).to.have.length(failed);
    const pauses = logged.filter(({ event }) => event === "webhook.failed").map(({ retryMs = 0 }) => retryMs / 1000);
    expect(pauses).to.deep.equal([5, 30, 120, 600, 1800, 3600, 7200]);
    status = 200;
    shiftMs += notBefore - clock.now();
    await restart();
    const last = (await received(failed + 1)).at(-1) as Message;
    await eventually(async () => (await waiting()) === 0);
    expect(last.headers["webhook-id"]).to.equal("sale_1");
    expect(Number(last.headers["webhook-timestamp"])).to.be.closeTo(clock.now() / 1000, 10);
    expect(messages, "and not again").to.have.length(failed + 1);
  });

  it("come later than others that were taken at once: their order says nothing", async () => {
    status = 500;
    const outbox = start();
    await outbox.publishTo("books", toSale("sale_1"));
    await failures(1);
    status = 200;
    await outbox.publishTo("books", toSale("sale_2"));
    await received(2);
    await eventually(async () => (await waiting()) <= 1); // What is not on record as delivered is sent again.
    shiftMs += HOUR_MS;
    await restart();
    await received(3);
    expect(messages.map(({ headers }) => headers["webhook-id"])).to.deep.equal(["sale_1", "sale_2", "sale_1"]);
  });

  it("go out at once when somebody asks for it, however long they should have waited", async () => {
    status = 500;
    const [deliveries, now] = [createDeliveries(store), clock.now()];
    const delivery = { ...toOld(6), since: now };
    const key = await deliveries.add(delivery);
    start();
    const { notBefore } = await failures(7);
    expect(notBefore).to.be.greaterThan(now + HOUR_MS);
    status = 200;
    await deliveries.update(key, { ...delivery, failures: 0, notBefore: clock.now() + HOUR_MS }); // By a clock ahead.
    await received(2);
    await eventually(async () => (await waiting()) === 0);
  });

  it("wait as long as they should, and no longer when the clock is set back", async () => {
    status = 500;
    const looks = mock.method(store, "keys").mock;
    await start().publishTo("books", toSale("sale_1"));
    await failures(1);
    const enough = looks.callCount() + 5;
    await eventually(() => looks.callCount() >= enough);
    expect(messages).to.have.length(1);
    status = 200;
    shiftMs -= HOUR_MS;
    await received(2);
    await eventually(async () => (await waiting()) === 0);
  });

  it("go out again when somebody asks for it while the last attempt is still waiting for its answer", async () => {
    status = 500;
    const answer = Promise.withResolvers<void>();
    answered = answer.promise;
    const deliveries = createDeliveries(store);
    const old = toOld(9);
    const key = await deliveries.add(old);
    start();
    await received(1);
    await deliveries.update(key, { ...old, since: clock.now(), failures: 0 }); // What `webhooks resend` does.
    answer.resolve();
    await failures(1);
    expect((await deliveries.givenUp()[Symbol.asyncIterator]().next()).done, "it was not given up").to.equal(true);
    expect(messages).to.have.length(2);
  });

  it("are no failure, and wait for nothing, when the process ends before they are answered", async () => {
    answered = new Promise(() => {});
    await start().publishTo("books", toSale("sale_1"));
    await received(1);
    await close();
    expect(await read()).to.include({ failures: 0 });
    start();
    await received(2);
  });

  it("are put on record once, however often they are published", async () => {
    const outbox = start();
    status = 500;
    await Promise.all([outbox.publishTo("books", toSale("sale_1")), outbox.publishTo("books", toSale("sale_1"))]);
    expect(await waiting()).to.equal(1);
  });

  it("are given up after a day, are kept, and can be told again", async () => {
    status = 301; // A redirection is not followed.
    await createDeliveries(store).add(toOld(8));
    const outbox = start();
    await received(1);
    await eventually(async () => (await waiting()) === 0);
    const { value: lost } = await createDeliveries(store).givenUp()[Symbol.asyncIterator]().next();
    expect(lost).to.include({ endpoint: "books", failures: 9, reason: "It answered 301" });
    expect(logged.at(-1)).to.include({ event: "webhook.given-up", message: "sale_1", failures: 9 });
    status = 200;
    await outbox.publishTo("books", lost.event);
    expect(((await received(2)) as Message[]).at(-1)?.headers["webhook-id"]).to.equal("sale_1");
  });

  it("are sent after a shop has stood still for more than a week, also to a receiver that comes up after it", async () => {
    status = 503;
    await start().publishTo("books", toSale("sale_1"));
    await failures(1);
    shiftMs += 8 * 24 * HOUR_MS; // Its next process reads the same store.
    expect((await failures(2)).notBefore - clock.now()).to.be.within(1, 30_000);
    status = 200;
    shiftMs += HOUR_MS;
    await received(3);
  });

  it("are told by one process at a time", async () => {
    const outboxes = [start(), start(), start()];
    for (let sale = 0; sale < 20; sale += 1)
      await (outboxes[sale % 3] as Outbox).publishTo("books", toSale(`sale_${sale}`));
    await received(20);
    await eventually(async () => (await waiting()) === 0);
    expect(new Set(messages.map(({ headers }) => headers["webhook-id"])).size).to.equal(20);
    expect(messages).to.have.length(20);
  });
});
