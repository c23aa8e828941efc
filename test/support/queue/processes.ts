import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { eventually } from "../eventually.ts";
import { ALL, type QueueStage } from "./stage.ts";

/** Tests the promises of a queue to several worker processes: the tests' own, and another one. */
export function testProcesses(stage: QueueStage): void {
  const { openLine, startChild, addAll } = stage;

  it("is worked on by two processes, each job by one of them", async () => {
    const child = await startChild(5);
    const own: string[] = [];
    const { queue } = await openLine(async ({ id }) => {
      await sleep(5);
      own.push(id);
      return "done";
    });
    const ids = await addAll(queue, "three", 60);
    await eventually(() => own.length + child.ended.length >= 60);
    expect([...own, ...child.began].sort()).to.deep.equal(ids.sort());
  });

  it("is worked on by two processes at the same time, and loses no job when one is killed and the other closed", async () => {
    const killed = await startChild("hang");
    const [began, stopped]: [string[], string[]] = [[], []];
    const closed = await openLine(async ({ id }, signal) => {
      began.push(id);
      await once(signal, "abort");
      stopped.push(id);
      return { retryInMs: 0 };
    });
    const ids = await addAll(closed.queue, "three", 7);
    await eventually(() => killed.began.length === 3 && began.length === 3);
    expect(new Set([...killed.began, ...began]).size).to.equal(6);
    await killed.kill("SIGKILL");
    await closed.close();
    expect(stopped.sort(), "what is not finished is handed back").to.deep.equal(began.sort());
    const { queue } = await openLine();
    expect(await queue.count("three")).to.equal(7);
    const taken: string[] = [];
    queue.start(async ({ id }) => {
      taken.push(id);
      return "done";
    }, ALL);
    await eventually(() => taken.length >= 7);
    expect(taken.sort()).to.deep.equal(ids.sort());
  });

  it("is left to others by a process that drains, which ends the turns that it has begun, and still adds jobs", async () => {
    const end = Promise.withResolvers<void>();
    const taken: string[] = [];
    let isStopped = false;
    const { queue } = await openLine(async ({ id }, signal) => {
      taken.push(id);
      await end.promise;
      isStopped ||= signal.aborted;
      return "done";
    });
    const [first, second] = await addAll(queue, "one", 2);
    await eventually(() => taken.length === 1);
    let isDrained = false;
    const drained = queue.drain().then(() => {
      isDrained = true;
    });
    const [third] = await addAll(queue, "one", 1);
    expect(isDrained).to.equal(false);
    end.resolve();
    await drained;
    expect([taken, isStopped, await queue.count("one")]).to.deep.equal([[first], false, 2]);
    const others: string[] = [];
    await openLine(async ({ id }) => {
      others.push(id);
      return "done";
    });
    await eventually(() => others.length === 2);
    expect([taken, others]).to.deep.equal([[first], [second, third]]);
  });

  it("tells a process that was stalled that another one has its job", async () => {
    const child = await startChild("hang");
    const end = Promise.withResolvers<void>();
    const taken: string[] = [];
    const { queue } = await openLine();
    const [id] = await addAll(queue, "one", 1);
    await eventually(() => child.began.length === 1);
    await child.kill("SIGUSR2");
    queue.start(async (job) => {
      taken.push(job.id);
      await end.promise;
      return "done";
    }, ALL);
    await eventually(() => taken.length === 1);
    await eventually(async () => {
      await child.kill("SIGCONT"); // On a busy machine it may not have stopped until now.
      return child.stopped.length === 1;
    });
    end.resolve();
    await eventually(async () => (await queue.count("one")) === 0);
    expect([taken, child.began]).to.deep.equal([[id], [id]]);
  });
}
