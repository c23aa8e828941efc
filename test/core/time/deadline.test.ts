import { mock } from "node:test";
import { expect } from "chai";
import { createDeadline, pause, untilAborted, within } from "../../../runtime/core/time/deadline.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { thrown } from "../../support/thrown.ts";

describe("waiting", () => {
  let time: FrozenTime;
  beforeEach(() => {
    time = freezeTime();
  });
  afterEach(() => {
    mock.restoreAll();
    time.thaw();
  });

  it("shares a deadline among the calls of a tenth of its time, and gives each of them all of it", async () => {
    const timeouts = mock.method(AbortSignal, "timeout");
    const deadline = createDeadline(1005);
    const first = deadline();
    time.stall(100);
    expect(deadline()).to.equal(first);
    time.stall(1);
    expect(deadline()).not.to.equal(first);
    expect(timeouts.mock.calls.map(({ arguments: [ms] }) => ms)).to.deep.equal([1106, 1106]);
  });

  it("ends a deadline after its time awake, however long the process was suspended meanwhile", async () => {
    const timers: { readonly ms: number; readonly end: AbortController }[] = [];
    mock.method(AbortSignal, "timeout", (ms: number) => {
      const end = new AbortController();
      timers.push({ ms, end });
      return end.signal;
    });
    const signal = createDeadline(1000)();
    await time.pass(300);
    time.stall(20 * 60_000);
    timers[0]?.end.abort();
    await time.pass(0);
    expect(signal.aborted).to.equal(false); // What has arrived meanwhile is read first.
    const rest = timers.find(({ ms }) => ms >= 600 && ms <= 800);
    await time.pass(rest?.ms ?? 0);
    rest?.end.abort();
    await time.pass(0);
    expect(signal.aborted).to.equal(true);
  });

  it("for work within a time gives what it gives, or the error after that time, and keeps no timer", async () => {
    const toError = (): Error => new Error("late");
    expect(await within(1000, Promise.resolve(1), toError)).to.equal(1);
    const failure = new Error("no");
    expect(await thrown(within(1000, Promise.reject(failure), toError))).to.equal(failure);
    const late = thrown(within(1000, new Promise(() => {}), toError));
    let isOver = false;
    void late.then(() => {
      isOver = true;
    });
    await time.pass(990);
    expect(isOver).to.equal(false);
    await time.pass(20);
    expect(await late).to.have.property("message", "late");
    const cleared = mock.method(globalThis, "clearTimeout");
    await within(1000, Promise.resolve(1), toError);
    expect(cleared.mock.callCount()).to.equal(1);
  });

  it("for work until a signal rejects with its reason at once, also when it was aborted before", async () => {
    const controller = new AbortController();
    expect(await untilAborted(Promise.resolve(1), controller.signal)).to.equal(1);
    expect(await untilAborted(Promise.resolve(1), undefined)).to.equal(1);
    const pending = thrown(untilAborted(new Promise(() => {}), controller.signal));
    const reason = new Error("gone");
    controller.abort(reason);
    expect(await pending).to.equal(reason);
    expect(await thrown(untilAborted(new Promise(() => {}), controller.signal))).to.equal(reason);
  });

  it("for work leaves no listener behind on a signal that lives longer", async () => {
    const { signal } = new AbortController();
    const [added, removed] = [mock.method(signal, "addEventListener"), mock.method(signal, "removeEventListener")];
    await untilAborted(Promise.resolve(1), signal);
    const pausing = pause(10, signal);
    await time.pass(20);
    await pausing;
    expect([added.mock.callCount(), removed.mock.callCount()]).to.deep.equal([2, 2]);
  });

  it("as a pause says whether its time has passed: a signal ends it, and keeps it from beginning", async () => {
    const controller = new AbortController();
    const passed = pause(1000, controller.signal);
    await time.pass(1001);
    expect(await passed).to.equal(true);
    const ended = pause(1000, controller.signal);
    controller.abort();
    expect(await ended).to.equal(false);
    expect(await pause(1000, controller.signal)).to.equal(false);
  });
});
