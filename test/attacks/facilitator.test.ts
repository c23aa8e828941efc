import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import type { PaymentPayload } from "../../runtime/core/x402/x402.ts";
import { createHttpFacilitator, type HttpFacilitator } from "../../runtime/drivers/facilitator/http.ts";
import { closeServer, listenOnLoopback } from "../../runtime/sandbox/json-rpc.ts";
import { createScriptedRail, nonceOf } from "../support/chains/scripted-rail.ts";
import { createRandom } from "../support/random.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";

const NETWORK = "eip155:8453";
const PATIENCE = { verifyMs: 1000, settleMs: 1000 };

type Action = "verify" | "settle";
type Respond = (response: ServerResponse, payment: PaymentPayload) => void;

const say =
  (body: unknown, status = 200): Respond =>
  (response) =>
    void response
      .writeHead(status, { "content-type": "application/json" })
      .end(typeof body === "string" ? body : JSON.stringify(body));
const hangUp: Respond = (response) => void response.destroy();
const silence: Respond = () => {};
const valid = say({ isValid: true, payer: "0x1111111111111111111111111111111111111111" });

/** A facilitator on a real socket that says what a test wants, and a chain that it moves money on. */
async function openFacilitator() {
  const script: { verify: Respond; settle: Respond; asked: Record<Action, number> } = {
    verify: valid,
    settle: (response, payment) => settled(response, move(payment)),
    asked: { verify: 0, settle: 0 },
  };
  const moved = new Map<string, string>();
  const move = (payment: PaymentPayload): string => {
    const known = moved.get(nonceOf(payment)) ?? `0x${(moved.size + 1).toString(16).padStart(64, "0")}`;
    moved.set(nonceOf(payment), known);
    return known;
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method === "GET")
      return say({ kinds: [{ x402Version: 2, scheme: "exact", network: NETWORK }] })(response, {} as PaymentPayload);
    const action = request.url?.slice(1) as Action;
    script.asked[action] += 1;
    script[action](response, (JSON.parse(body) as { paymentPayload: PaymentPayload }).paymentPayload);
  });
  const url = await listenOnLoopback(server);
  return {
    url,
    script,
    moved,
    move,
    close: () => closeServer(server),
  };
}

const settled = (response: ServerResponse, transaction: string, lie: object = {}): void =>
  say({ success: true, transaction, network: NETWORK, amount: "1000", ...lie })(response, {} as PaymentPayload);
const refused = (response: ServerResponse, errorReason: string, transaction = ""): void =>
  say({ success: false, errorReason, transaction, network: NETWORK })(response, {} as PaymentPayload);

describe("a facilitator that misbehaves", () => {
  let facilitator: Awaited<ReturnType<typeof openFacilitator>>;
  let driver: HttpFacilitator;
  let shop: Shop;
  /** How often the chain's node does not show yet what has moved. */
  let lag = (): boolean => false;
  beforeEach(async () => {
    facilitator = await openFacilitator();
    driver = createHttpFacilitator({ url: facilitator.url });
    lag = () => false;
    const scripted = createScriptedRail();
    scripted.script.find = (payment) => {
      const transaction = facilitator.moved.get(nonceOf(payment));
      return transaction === undefined || lag() ? { state: "open" } : { state: "settled", transaction };
    };
    shop = await openShop({ rail: { ...scripted, facilitator: driver }, patience: PATIENCE });
  });
  afterEach(async () => {
    await shop.close();
    await facilitator.close();
    await driver.close();
  });

  describe("when it is asked to verify", () => {
    const mishaps: Record<string, Respond> = {
      "answers 500": say({ isValid: true }, 500),
      "answers 503 without a body": say("", 503),
      "answers 429": say({ error: "slow down" }, 429),
      "never answers": silence,
      "resets the connection": hangUp,
      "stops in the middle": (response) => void response.writeHead(200, { "content-length": "100" }).write('{"isVal'),
      "answers garbage": say("<html>It works!</html>"),
      'answers "true"': say('"true"'),
      "answers true": say("true"),
      'answers {"isValid":"true"}': say({ isValid: "true" }),
      "answers nothing": say(""),
      "answers 10 MB": say({ isValid: true, more: "x".repeat(10 * 1024 * 1024) }),
      redirects: (response) => void response.writeHead(307, { location: "http://127.0.0.1:1/verify" }).end(),
    };
    for (const [what, mishap] of Object.entries(mishaps))
      it(`and ${what}, runs nothing and charges nobody: 503 with Retry-After, and the payment stays good`, async () => {
        facilitator.script.verify = mishap;
        const payment = await shop.pay("/v1/roll");
        const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
        expect(response.status).to.equal(503);
        expect(await response.json()).to.have.property("code", "facilitator-unavailable");
        expect(response.headers.get("retry-after")).to.match(/^\d+$/);
        expect(shop.executions).to.equal(0);
        expect(facilitator.script.asked.settle).to.equal(0);
        facilitator.script.verify = valid;
        expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(200);
      });
  });

  describe("when it is asked to settle", () => {
    const random = createRandom(20_261_121);
    const WRONG = `0x${"ee".repeat(32)}`;
    const later = (payment: PaymentPayload): void => {
      const { move } = facilitator;
      setTimeout(() => move(payment), 20);
    };
    /** Everything that was ever seen to go wrong: before the money moved, after it, and while it is on its way. */
    const mishaps: Respond[] = [
      (response, payment) => settled(response, facilitator.move(payment)),
      silence,
      hangUp,
      say({ success: true }, 500),
      say("garbage"),
      (_response, payment) => void facilitator.move(payment),
      (response, payment) => void [facilitator.move(payment), hangUp(response, payment)],
      (response, payment) => void [facilitator.move(payment), say("", 502)(response, payment)],
      (response, payment) => void [facilitator.move(payment), say("garbage")(response, payment)],
      (response, payment) => void [facilitator.move(payment), settled(response, WRONG)],
      (response, payment) => settled(response, facilitator.move(payment), { network: "eip155:1" }),
      (response, payment) => settled(response, facilitator.move(payment), { amount: "1" }),
      (response, payment) =>
        void [facilitator.move(payment), refused(response, "invalid_exact_evm_nonce_already_used")],
      (response, payment) => void [facilitator.move(payment), refused(response, "unexpected_settle_error")],
      (response, payment) =>
        void [facilitator.move(payment), refused(response, "invalid_exact_evm_transfer_event_mismatch", WRONG)],
      (response, payment) => void [later(payment), refused(response, "settlement_pending", WRONG)],
      (response, payment) =>
        void [later(payment), refused(response, "Missing or invalid parameters.\nDetails: already known")],
      (response, payment) => void [later(payment), hangUp(response, payment)],
      (response) => settled(response, "", {}),
      (response) => settled(response, WRONG, { network: "eip155:1" }),
      (response) => refused(response, "insufficient_funds"),
      (response) => refused(response, "duplicate_settlement"),
    ];
    const choose = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

    const LONGEST_WAIT_MS = 300;

    /** What an obedient client does: it pays again when it is told that it has not paid, and only then. */
    async function purchase(): Promise<string[]> {
      const payments = [await shop.pay("/v1/roll")];
      for (let waitMs = 10; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
        const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payments.at(-1) as string });
        await response.arrayBuffer();
        if (response.status === 200) return payments;
        if (response.status === 402) payments.push(await shop.pay("/v1/roll"));
        else expect(response.status).to.be.oneOf([409, 429, 502, 503]); // 429: too much in flight; 502: paid first.
        await sleep(waitMs); // As an obedient client does.
      }
    }

    /** Has many clients buy at once, and counts what each was charged. */
    async function trade(count: number): Promise<void> {
      facilitator.script.settle = (response, payment) => choose(mishaps)(response, payment);
      lag = () => random() < 0.5;
      const purchases: string[][] = [];
      const buyer = async (): Promise<void> => {
        while (purchases.length < count) {
          const place = purchases.push([]) - 1;
          purchases[place] = await purchase();
        }
      };
      await Promise.all(Array.from({ length: 60 }, buyer));
      const hasMoved = (payment: string): boolean =>
        facilitator.moved.has(nonceOf(JSON.parse(Buffer.from(payment, "base64").toString()) as PaymentPayload));
      const charged = purchases.map((payments) => payments.filter(hasMoved).length);
      expect(
        charged.filter((times) => times > 1),
        "charged twice",
      ).to.deep.equal([]);
      expect(
        charged.filter((times) => times === 0),
        "delivered for nothing",
      ).to.deep.equal([]);
      expect(facilitator.moved.size).to.equal(purchases.length);
    }

    it("and refuses without naming a transaction or a network, tells its buyer why: 402, not 503", async () => {
      for (const none of [null, undefined]) {
        const refusal = { success: false, errorReason: "insufficient_funds", transaction: none, network: none };
        facilitator.script.settle = say(refusal);
        const response = await shop.buy("/v1/roll", ROLL);
        expect(response.status).to.equal(402);
        expect(await response.json()).to.have.property("error", "insufficient_funds");
      }
    });

    it("charges nobody twice in 600 purchases, and delivers whatever was paid", () => trade(600));

    it("charges nobody twice while the store fails too, before it has done what it was asked or after", async () => {
      const { store } = shop;
      for (const name of ["get", "set", "delete", "putIfAbsent"] as const) {
        const work = store[name] as (...args: unknown[]) => Promise<unknown>;
        const gone = (): Promise<never> => Promise.reject(new Problem("unavailable", "The store is gone"));
        const failing = async (...args: unknown[]): Promise<unknown> => {
          if (random() < 0.03) return gone();
          const done = await work(...args);
          return random() < 0.03 ? gone() : done;
        };
        Object.assign(store, { [name]: failing });
      }
      await trade(120);
    });
  });
});
