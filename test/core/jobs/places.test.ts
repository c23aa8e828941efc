import { expect } from "chai";
import { createJobPlaces, withPlaces } from "../../../runtime/core/jobs/places.ts";
import type { JobQueue, QueuedJob, Turn } from "../../../runtime/core/jobs/queue.ts";

const JOB: QueuedJob = { id: "1", service: "one", at: 0 };

describe("the places of jobs in a process", () => {
  const never = new AbortController().signal;
  /** A queue whose turns the test gives. */
  function openQueue(): JobQueue & { give(): Promise<unknown> } {
    let take: Turn | undefined;
    const nothing = async (): Promise<void> => undefined;
    return {
      add: nothing,
      count: async () => 0,
      list: async () => [],
      services: async () => [],
      start: (turn) => {
        take = turn;
      },
      adopt: () => undefined,
      abandon: nothing,
      drain: nothing,
      close: nothing,
      give: () => (take as Turn)(JOB, never),
    };
  }

  it("are free again once their jobs have ended, also with an error", async () => {
    const places = createJobPlaces();
    const [earlier, later] = [openQueue(), openQueue()];
    const first = Promise.withResolvers<"done">();
    withPlaces(earlier, places, () => 1).start(() => first.promise, ["one"]);
    withPlaces(later, places, () => 1).start(async () => "done", ["one"]);
    const failing = earlier.give().catch(({ message }: Error) => message);
    const waiting = later.give();
    first.reject(new Error("it broke"));
    expect(await Promise.all([failing, waiting])).to.deep.equal(["it broke", "done"]);
    expect(await later.give()).to.equal("done");
  });

  it("are not waited for by a set that has been replaced: its jobs return to the queue", async () => {
    const places = createJobPlaces();
    const queue = openQueue();
    const replaced = withPlaces(queue, places, () => 1);
    replaced.start(async () => "done", ["one"]);
    expect(await places.take("one", 1, never)).to.equal(true);
    const waiting = queue.give();
    await replaced.drain();
    expect(await waiting).to.deep.equal({ retryInMs: 0 });
    places.free("one");
    expect(await places.take("one", 1, never)).to.equal(true);
  });

  it("are not waited for for ever: another process may take the job", async () => {
    const places = createJobPlaces();
    const queue = openQueue();
    withPlaces(queue, places, () => 1, 10).start(async () => "done", ["one"]);
    await places.take("one", 1, never);
    const alive = setInterval(() => undefined, 1000);
    expect(await queue.give()).to.deep.equal({ retryInMs: 0 });
    clearInterval(alive);
  });
});
