import { expect } from "chai";
import { createPace, type Rate } from "../../../runtime/drivers/upstream/pace.ts";
import { createHttpTransport } from "../../../runtime/drivers/upstream/transport.ts";
import { createUpstream } from "../../../runtime/drivers/upstream/upstream.ts";
import { createLogBook } from "../../support/http.ts";
import { NEVER } from "../../support/sources/live-upstream.ts";
import { openBaseNode } from "../../support/world/base-node.ts";
import { createWorldClock, type WorldClock } from "../../support/world/clock.ts";
import { askForPause, type Manners, OVER_RATE_LIMIT } from "../../support/world/manners.ts";
import type { WorldSource } from "../../support/world/source.ts";

const RATE: Rate = { per_second: 10, burst: 20 };

describe("the pace of requests to an upstream", () => {
  let clock: WorldClock;
  let start: number;
  beforeEach(() => {
    clock = createWorldClock();
    start = clock.now();
  });

  const secondsSince = (): number => (clock.now() - start) / 1000;

  it("lets a burst pass at once, and the rest at the rate", async () => {
    const { turn } = createPace({ rate: RATE, clock, pause: clock.pause });
    await Promise.all(Array.from({ length: 20 }, () => turn(NEVER, false)));
    expect(secondsSince()).to.equal(0);
    await Promise.all(Array.from({ length: 100 }, () => turn(NEVER, false)));
    expect(secondsSince()).to.be.within(9.9, 10.2);
  });

  it("lets those go first who may not wait, and keeps a quarter of the burst for them", async () => {
    const { turn } = createPace({ rate: RATE, clock, pause: clock.pause });
    const order: string[] = [];
    const enter = (name: string, mayYield: boolean) => turn(NEVER, mayYield).then(() => order.push(name));
    await Promise.all(Array.from({ length: 15 }, () => turn(NEVER, true)));
    expect(secondsSince()).to.equal(0);
    await Promise.all([enter("job", true), enter("call", false), enter("call", false)]);
    expect(order).to.deep.equal(["call", "call", "job"]);
  });

  it("tells how long one more would wait, however slow it has become and however many are in line", async () => {
    const { turn, slow, waitMs } = createPace({ rate: { per_second: 2, burst: 1 }, clock, pause: clock.pause });
    expect(waitMs()).to.equal(0);
    const inLine = [turn(NEVER, false), turn(NEVER, true)];
    expect(waitMs(), "the first has its turn, and the second goes after it").to.equal(500);
    slow();
    expect(waitMs()).to.equal(1000);
    await Promise.all(inLine);
    await clock.pause(60_000, NEVER);
    expect(waitMs()).to.equal(0);
  });

  it("waits for a month and more in parts: a longer timer of Node fires at once, and warns each time", async () => {
    const pauses: number[] = [];
    const pause = (ms: number, signal: AbortSignal): Promise<void> => clock.pause(pauses.push(ms) && ms, signal);
    const { turn, slow } = createPace({ rate: { per_second: 0.01, burst: 10_000 }, clock, pause });
    for (let refusals = 0; refusals < 4; refusals += 1) slow();
    await turn(NEVER, true);
    expect(secondsSince()).to.be.within(4_000_000, 4_003_000);
    expect(pauses[0]).to.equal(2 ** 31 - 1);
    expect(pauses).to.have.length(2);
  });

  it("does not wait for a caller who has left", async () => {
    const { turn } = createPace({ rate: { per_second: 0.01, burst: 1 }, clock, pause: clock.pause });
    await turn(NEVER, false);
    const caller = new AbortController();
    const left = turn(caller.signal, false).catch((reason: unknown) => reason);
    caller.abort("gone");
    expect(await left).to.equal("gone");
  });

  it("is halved by each refusal and comes back with the answers", async () => {
    const { turn, slow, quicken } = createPace({ rate: RATE, clock, pause: clock.pause });
    slow();
    await turn(NEVER, false);
    expect(secondsSince()).to.be.within(0.19, 0.25);
    for (let refusals = 0; refusals < 20; refusals += 1) slow();
    await turn(NEVER, false);
    expect(secondsSince()).to.be.within(1.7, 2);
    for (let answers = 0; answers < 64; answers += 1) quicken();
    start = clock.now();
    await turn(NEVER, false);
    expect(secondsSince()).to.be.within(0.09, 0.15);
  });
});

describe("a patient request", () => {
  const transport = createHttpTransport();
  let clock: WorldClock;
  let node: WorldSource | undefined;
  after(() => transport.close());
  afterEach(async () => node?.close());

  async function open(manners: Manners, rate?: Rate) {
    clock = createWorldClock();
    node = await openBaseNode({ clock, payments: [], manners });
    return createUpstream({
      id: "base",
      title: "Base node",
      url: node.url,
      headers: {},
      timeoutMs: 5000,
      retries: 1,
      pauseMs: 1,
      transport: transport.send,
      clock,
      pause: clock.pause,
      pace: createPace({ rate, clock, pause: clock.pause }),
      log: createLogBook(),
    });
  }

  const ask = (upstream: ReturnType<typeof createUpstream>, patientUntil?: number, block = 1) =>
    upstream.rpc("eth_getBlockByNumber", [`0x${block.toString(16)}`, false], {
      signal: NEVER,
      ...(patientUntil !== undefined && { patientUntil }),
    });

  for (const [how, refusal] of [
    ["with status 429", 429],
    ["by asking for a pause of 30 seconds", askForPause(30)],
    ["in a JSON-RPC error", OVER_RATE_LIMIT],
  ] as const)
    it(`is answered in the end by a node that refuses ${how}`, async () => {
      const upstream = await open({ rate: { perSecond: 5, burst: 5 }, refusal });
      const blocks = Array.from({ length: 60 }, (_, at) => at + 1);
      const answers = await Promise.all(blocks.map((block) => ask(upstream, clock.now() + 1_800_000, block)));
      expect(answers.every(({ error }) => error === undefined)).to.equal(true);
    });

  it("is hardly ever refused when the rate is the node's own", async () => {
    const upstream = await open({ rate: { perSecond: 10, burst: 20 } }, RATE);
    const blocks = Array.from({ length: 200 }, (_, at) => at + 1);
    await Promise.all(blocks.map((block) => ask(upstream, clock.now() + 1_800_000, block)));
    expect(node?.refused()).to.be.below(10);
  });

  it("waits for a node that has failed so often that nobody asks it", async () => {
    const upstream = await open({ fault: () => 503 });
    for (let block = 1; block <= 6; block += 1) await ask(upstream, undefined, block).catch(() => undefined);
    expect(upstream.status().state).to.equal("down");
    node?.behave({});
    expect((await ask(upstream, clock.now() + 60_000)).error).to.equal(undefined);
  });

  it("fails when its patience is over, and without patience as before", async () => {
    const upstream = await open({ fault: () => 503 });
    const before = clock.now();
    const failure = (patientUntil?: number) => ask(upstream, patientUntil).catch(({ message }: Error) => message);
    expect(await failure()).to.equal("Base node answered with status 503");
    expect(clock.now() - before).to.be.below(1000);
    expect(await failure(before + 120_000)).to.match(/^Base node (answered with status 503|has failed several times)/);
    expect(clock.now() - before).to.be.within(60_000, 121_000);
  });
});
