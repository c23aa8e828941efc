import { expect } from "chai";
import { eventually } from "../eventually.ts";
import { ALL, type QueueStage } from "./stage.ts";

/** Tests the promises of a queue to several worker processes. */
export function testProcesses(stage: QueueStage): void {
  const { openLine, startChild, addAll } = stage;

  it("is worked on by two processes, each job by one of them", async () => {
    const pair = await Promise.all([startChild(5), startChild(5)]);
    const { queue } = await openLine();
    const ids = await addAll(queue, "three", 60);
    await eventually(() => pair.flatMap(({ ended }) => ended).length >= 60);
    expect(pair.flatMap(({ began }) => began).sort()).to.deep.equal(ids.sort());
  });

  it("is worked on by two processes at the same time", async () => {
    const pair = await Promise.all([startChild("hang"), startChild("hang")]);
    const { queue } = await openLine();
    const ids = await addAll(queue, "three", 6);
    await eventually(() => pair.every(({ began }) => began.length === 3));
    expect(pair.flatMap(({ began }) => began).sort()).to.deep.equal(ids.sort());
  });

  it("loses no job when the process that works on it is killed", async () => {
    const child = await startChild("hang");
    const { queue } = await openLine();
    const ids = await addAll(queue, "three", 5);
    await eventually(() => child.began.length === 3);
    await child.kill("SIGKILL");
    const taken: string[] = [];
    queue.start(async ({ id }) => {
      taken.push(id);
      return "done";
    }, ALL);
    await eventually(() => taken.length >= 5);
    expect(taken.sort()).to.deep.equal(ids.sort());
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

  it("hands back what is not finished when it is closed", async () => {
    const child = await startChild("hang");
    const { queue } = await openLine();
    const ids = await addAll(queue, "three", 3);
    await eventually(() => child.began.length === 3);
    await child.kill("SIGTERM");
    expect(child.stopped.sort()).to.deep.equal(ids.sort());
    expect(await queue.count("three")).to.equal(3);
    const taken: string[] = [];
    queue.start(async ({ id }) => {
      taken.push(id);
      return "done";
    }, ALL);
    await eventually(() => taken.length === 3);
  });
}
