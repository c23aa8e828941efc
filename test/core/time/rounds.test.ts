import { expect } from "chai";
import { createRounds } from "../../../runtime/core/time/rounds.ts";

describe("rounds", () => {
  it("follow each other after the pause that each asks for, one at a time", async () => {
    const [pauses, begun]: [number[], number[]] = [[30, 1, 1], []];
    const third = Promise.withResolvers<void>();
    let running = 0;
    const rounds = createRounds(async () => {
      running += 1;
      expect(running).to.equal(1);
      begun.push(performance.now());
      await null;
      running -= 1;
      if (begun.length === 3) third.resolve();
      return pauses[begun.length - 1] as number;
    });
    rounds.start();
    expect(begun, "the first one begins at once").to.have.length(1);
    await third.promise;
    await rounds.close();
    const [first = 0, second = 0] = begun;
    expect(second - first).to.be.at.least(28); // A timer's millisecond may begin a moment earlier.
  });

  it("begin after a while when that is asked for", async () => {
    const done = Promise.withResolvers<void>();
    let count = 0;
    const rounds = createRounds(async () => {
      count += 1;
      done.resolve();
      return 60_000;
    });
    rounds.start(1);
    expect(count).to.equal(0);
    await done.promise;
    await rounds.close();
    expect(count).to.equal(1);
  });

  it("are closed when the current one has ended, and none follows", async () => {
    const held = Promise.withResolvers<number>();
    let count = 0;
    const rounds = createRounds(() => {
      count += 1;
      return held.promise;
    });
    rounds.start();
    let isOver = false;
    const closing = rounds.close().then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect([isOver, rounds.isClosed()]).to.deep.equal([false, true]);
    held.resolve(0);
    await closing;
    await new Promise((next) => setTimeout(next, 5));
    expect(count).to.equal(1);
  });
});
