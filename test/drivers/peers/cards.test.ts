import { expect } from "chai";
import type { WebAnswer, WebRequest } from "../../../runtime/api/capabilities.ts";
import { Problem } from "../../../runtime/api/problem.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { createPeerBudgets } from "../../../runtime/drivers/peers/budgets.ts";
import { createPeerCards } from "../../../runtime/drivers/peers/cards.ts";
import { createPeer } from "../../surfaces/a2a/served/support/peer.ts";

const PEER = createPeer("https://payphone.example");
const WANTED = { origin: PEER.origin, keyId: PEER.keyId };

describe("the cards of peers", () => {
  /** Every URL that was fetched, in order. */
  let fetched: string[];
  let limits: WebRequest | undefined;
  let answer: (url: string) => Promise<Partial<WebAnswer>>;
  let now: number;
  beforeEach(() => {
    fetched = [];
    now = 1_800_000_000_000;
    answer = async () => ({ body: Buffer.from(JSON.stringify(PEER.card)) });
  });

  const create = () =>
    createPeerCards({
      web: {
        async fetch(url, request) {
          fetched.push(url);
          limits = request;
          return { status: 200, url, headers: new Headers(), body: Buffer.from(""), ...(await answer(url)) };
        },
      },
      clock: { now: () => now },
      budgets: createPeerBudgets(createMemoryLimiter),
    });

  it("are fetched from their well-known place, for 5 seconds and 256 KB at most", async () => {
    expect(await create().find(WANTED, "a")).to.include({ kind: "key" });
    expect(fetched).to.deep.equal(["https://peer.example/.well-known/agent-card.json"]);
    expect(limits).to.deep.include({ timeoutMs: 5000, maxBytes: 262_144 });
  });

  it("are read whatever else is listed where a key may stand", async () => {
    const capabilities = { extensions: [null, "x", { params: null }, { params: { keys: [null, 7] } }] };
    answer = async () => ({ body: Buffer.from(JSON.stringify({ ...PEER.card, capabilities })) });
    expect(await create().find(WANTED, "a")).to.include({ kind: "key" });
  });

  it("are kept for an hour, for all their keys", async () => {
    const cards = create();
    await cards.find(WANTED, "a");
    now += 3_599_000;
    expect(await cards.find(WANTED, "b")).to.include({ kind: "key" });
    expect(await cards.find({ ...WANTED, keyId: "another" }, "b")).to.include({ kind: "refused" });
    expect(fetched).to.have.length(1);
    now += 2000;
    await cards.find(WANTED, "a");
    expect(fetched).to.have.length(2);
  });

  it("are kept for no longer because the clock was set back", async () => {
    const cards = create();
    answer = async () => ({ status: 503 });
    await cards.find(WANTED, "a");
    now -= 24 * 60 * 60_000;
    answer = async () => ({ body: Buffer.from(JSON.stringify(PEER.card)) });
    expect(await cards.find(WANTED, "a")).to.include({ kind: "key" });
  });

  it("are fetched once, however many wait for them", async () => {
    const cards = create();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => cards.find(WANTED, `client ${at}`)));
    expect(answers.filter(({ kind }) => kind === "key")).to.have.length(100);
    expect(fetched).to.have.length(1);
  });

  const failures: readonly [what: string, answer: () => Promise<Partial<WebAnswer>>, why: RegExp][] = [
    [
      "cannot be fetched",
      () => Promise.reject(new Problem("upstream-failed", "peer.example does not answer")),
      /does not answer/,
    ],
    ["were moved", async () => ({ status: 301 }), /status 301/],
    ["are not there", async () => ({ status: 404 }), /status 404/],
    ["are no JSON", async () => ({ body: Buffer.from("<html>") }), /not JSON/],
    ["publish no key", async () => ({ body: Buffer.from("null") }), /publishes no key/],
  ];
  for (const [what, failing, why] of failures)
    it(`are remembered when they ${what}`, async () => {
      const cards = create();
      answer = failing;
      const first = await cards.find(WANTED, "a");
      expect(first.kind === "refused" && first.reason).to.match(why);
      answer = async () => ({ body: Buffer.from(JSON.stringify(PEER.card)) });
      now += 59_000;
      expect(await cards.find(WANTED, "a")).to.deep.equal(first);
      expect(fetched).to.have.length(1);
      now += what === "publish no key" ? 3_600_000 : 2000;
      expect(await cards.find(WANTED, "a")).to.include({ kind: "key" });
    });

  it("are fetched five times a minute for one address, and twenty times for all", async () => {
    const cards = create();
    const ask = (at: number, client: string) => cards.find({ origin: `https://p${at}.example`, keyId: "k" }, client);
    for (let at = 0; at < 5; at++) expect(await ask(at, "greedy")).to.include({ kind: "refused" });
    const busy = await ask(5, "greedy");
    expect(busy.kind === "busy" && busy.retryAfter).to.be.within(1, 60);
    for (let at = 5; at < 20; at++) expect(await ask(at, `client ${at % 5}`)).to.include({ kind: "refused" });
    expect(await ask(20, "fresh")).to.include({ kind: "busy" });
    expect(fetched).to.have.length(20);
    expect(await ask(0, "fresh"), "what is known needs no fetch").to.include({ kind: "refused" });
  });

  it("are not withheld from one address because another has spent its share", async () => {
    const cards = create();
    for (let at = 0; at < 5; at++) await cards.find({ origin: `https://p${at}.example`, keyId: "k" }, "greedy");
    const [greedy, modest] = await Promise.all([cards.find(WANTED, "greedy"), cards.find(WANTED, "modest")]);
    expect([greedy.kind, modest.kind]).to.deep.equal(["busy", "key"]);
  });

  it("pass on what nobody expected, and try again", async () => {
    const cards = create();
    answer = () => Promise.reject(new TypeError("a fault of ours"));
    expect(await cards.find(WANTED, "a").catch(String)).to.match(/a fault of ours/);
    answer = async () => ({ body: Buffer.from(JSON.stringify(PEER.card)) });
    expect(await cards.find(WANTED, "a")).to.include({ kind: "key" });
  });
});
