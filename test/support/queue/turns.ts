import { expect } from "chai";
import type { QueuedJob, Turn } from "../../../runtime/core/jobs/queue.ts";
import { eventually } from "../eventually.ts";
import { expectUnavailable } from "../store/probes.ts";
import { ALL, type QueueStage } from "./stage.ts";

/** Tests how a queue gives turns. */
export function testTurns(stage: QueueStage): void {
  const { openLine, toJob, addAll } = stage;

  it("gives turns in the order in which jobs came", async () => {
    const taken: string[] = [];
    const { queue } = await openLine();
    const ids = await addAll(queue, "one", 20);
    queue.start(async ({ id }) => {
      taken.push(id);
      return "done";
    }, ALL);
    await eventually(() => taken.length === 20);
    expect(taken).to.deep.equal(ids);
  });

  it("lists what is queued or running, the oldest first", async () => {
    const running = Promise.withResolvers<"done">();
    const { queue } = await openLine();
    const ids = await addAll(queue, "one", 5);
    await addAll(queue, "three", 1);
    let turns = 0;
    queue.start(() => {
      turns += 1;
      return running.promise;
    }, ["one"]);
    await eventually(() => turns > 0);
    const listed = await queue.list("one", 3);
    expect(listed.map(({ id }) => id)).to.deep.equal(ids.slice(0, 3));
    expect(listed[0]).to.include({ service: "one" });
    expect(listed[0]?.at).to.be.a("number");
    expect(await queue.list("many", 3)).to.deep.equal([]);
    running.resolve("done");
  });

  it("takes only the jobs of the services that it was told, and leaves the others to whoever offers them", async () => {
    const taken: Record<string, string[]> = { left: [], right: [] };
    const note =
      (name: string): Turn =>
      async ({ service }) => {
        taken[name]?.push(service);
        return "done";
      };
    const [left, right] = [await openLine(), await openLine()];
    left.queue.start(note("left"), ["one", "gone"]);
    right.queue.start(note("right"), ["three"]);
    for (const { queue } of [left, right]) {
      await addAll(queue, "one", 3);
      await addAll(queue, "three", 3);
      await addAll(queue, "many", 1);
    }
    await eventually(() => Object.values(taken).flat().length >= 12);
    expect(taken).to.deep.equal({ left: Array(6).fill("one"), right: Array(6).fill("three") });
    await eventually(async () => (await left.queue.services()).length === 1);
    expect([await left.queue.services(), await right.queue.count("many")]).to.deep.equal([["many"], 2]);
  });

  it("takes the jobs of a service that it has adopted, until it abandons it", async () => {
    const taken: string[] = [];
    const { queue } = await openLine();
    queue.start(
      async ({ service }) => {
        taken.push(service);
        return "done";
      },
      ["one"],
    );
    await addAll(queue, "many", 2);
    queue.adopt("many");
    await eventually(() => taken.length === 2);
    await queue.abandon("many");
    await addAll(queue, "many", 1);
    await addAll(queue, "one", 1);
    await eventually(() => taken.includes("one"));
    expect(taken).to.deep.equal(["many", "many", "one"]);
    expect(await queue.count("many")).to.equal(1);
  });

  it("tells a turn which job it is", async () => {
    const taken: QueuedJob[] = [];
    const { queue } = await openLine(async (job) => {
      taken.push(job);
      return "done";
    });
    const job = toJob("one");
    await queue.add(job);
    await eventually(() => taken.length === 1);
    expect(taken).to.deep.equal([job]);
  });

  it("works on as many jobs of a service at once as was said, and lets no service wait for another", async () => {
    const going = { one: 0, three: 0 };
    const most = { one: 0, three: 0 };
    const all = Promise.withResolvers<void>();
    const { queue } = await openLine(async ({ service }) => {
      const key = service as keyof typeof going;
      going[key] += 1;
      most[key] = Math.max(most[key], going[key]);
      if (going.one === 1 && going.three === 3) all.resolve();
      await all.promise;
      await new Promise((done) => setImmediate(done));
      going[key] -= 1;
      return "done";
    });
    await Promise.all([addAll(queue, "three", 12), addAll(queue, "one", 4)]);
    await eventually(() => going.one + going.three === 0 && most.one > 0);
    await eventually(async () => (await queue.count("one")) + (await queue.count("three")) === 0);
    expect(most).to.deep.equal({ one: 1, three: 3 });
  });

  it("counts what waits, what has its turn and what waits for another one, of each service, in every process", async () => {
    const end = Promise.withResolvers<void>();
    let paused = 0;
    const { queue } = await openLine(async ({ service }) => {
      if (service === "many") return { retryInMs: paused++ < 2 ? 60_000 : 0 };
      await end.promise;
      return "done";
    });
    const { queue: other } = await openLine();
    await addAll(other, "one", 5);
    await addAll(other, "many", 2);
    await eventually(() => paused === 2);
    expect(await Promise.all([queue, other].map((line) => line.count("one")))).to.deep.equal([5, 5]);
    expect(await other.count("many")).to.equal(2);
    expect(await other.count("three")).to.equal(0);
    end.resolve();
    await eventually(async () => (await other.count("one")) === 0);
  });

  it("keeps a job where it is when it is put in line again, before its turn and during it", async () => {
    const taken: string[] = [];
    const end = Promise.withResolvers<void>();
    const { queue } = await openLine();
    const { queue: other } = await openLine();
    const [first, second] = [toJob("one"), toJob("one")];
    for (const line of [queue, other]) for (const job of [first, second]) await line.add(job);
    expect(await queue.count("one")).to.equal(2);
    queue.start(async ({ id }) => {
      taken.push(id);
      await end.promise;
      return "done";
    }, ALL);
    await eventually(() => taken.length === 1);
    await other.add(first);
    expect(await queue.count("one")).to.equal(2);
    end.resolve();
    await eventually(async () => (await queue.count("one")) === 0);
    expect(taken).to.deep.equal([first.id, second.id]);
  });

  it("gives a job another turn, not before its time, and serves others meanwhile", async () => {
    const taken: { id: string; at: number }[] = [];
    const { queue } = await openLine(async ({ id }) => {
      taken.push({ id, at: performance.now() });
      return taken.length === 1 ? { retryInMs: 1500 } : "done";
    });
    const [first, second] = await addAll(queue, "one", 2);
    await eventually(() => taken.length === 3);
    expect(taken.map(({ id }) => id)).to.deep.equal([first, second, first]);
    expect((taken[2]?.at ?? 0) - (taken[0]?.at ?? 0)).to.be.greaterThan(1490);
  });

  it("gives a job another turn when one has thrown", async () => {
    let turns = 0;
    const { queue } = await openLine(async () => {
      turns += 1;
      if (turns === 1) throw new Error("the store is away");
      return "done";
    });
    await addAll(queue, "one", 1);
    await eventually(() => turns === 2);
  });

  it("keeps what nobody has worked on", async () => {
    const { queue, close } = await openLine();
    const ids = await addAll(queue, "one", 3);
    await close();
    const taken: string[] = [];
    await openLine(async ({ id }) => {
      taken.push(id);
      return "done";
    });
    await eventually(() => taken.length === 3);
    expect(taken).to.deep.equal(ids);
  });

  it("waits for turns when it closes, and gives no more", async () => {
    const taken: string[] = [];
    const { queue, close } = await openLine();
    let isOver = false;
    const [first] = await addAll(queue, "one", 3);
    queue.start(async ({ id }, signal) => {
      taken.push(id);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      await new Promise((done) => setImmediate(done));
      isOver = true;
      return "done";
    }, ALL);
    await eventually(() => taken.length === 1);
    await close();
    expect(isOver).to.equal(true);
    expect(taken).to.deep.equal([first]);
    const { queue: later } = await openLine();
    expect(await later.count("one")).to.equal(2);
  });

  it("gives no job that returns to the line another turn while it closes and waits for others", async () => {
    const taken: string[] = [];
    const { queue, close } = await openLine();
    const { queue: other } = await openLine();
    const ids = await addAll(queue, "three", 2);
    queue.start(async ({ id }, signal) => {
      taken.push(id);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      if (id === ids[0]) for (let count = 0; count < 100; count += 1) await other.count("three");
      return { retryInMs: 0 };
    }, ALL);
    await eventually(() => taken.length === 2);
    await close();
    expect(taken).to.have.members(ids);
    expect(await other.count("three")).to.equal(2);
  });

  it("takes no job that it cannot keep, and goes on when what it is kept in is back", async () => {
    const taken: string[] = [];
    const { queue } = await openLine(async ({ id }) => {
      taken.push(id);
      return "done";
    });
    await stage.at.outage.begin();
    const job = toJob("one");
    await expectUnavailable(queue.add(job));
    await stage.at.outage.end();
    await eventually(() =>
      queue.add(job).then(
        () => true,
        () => false,
      ),
    );
    await eventually(() => taken.includes(job.id));
    await addAll(queue, "one", 3);
    await eventually(() => taken.length >= 4);
  });
}
