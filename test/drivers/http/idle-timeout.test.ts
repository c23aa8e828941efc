import { getEventListeners } from "node:events";
import { mock } from "node:test";
import { expect } from "chai";
import { createIdleTimeout } from "../../../runtime/drivers/http/idle-timeout.ts";

describe("an idle timeout", () => {
  let caller: AbortController;
  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    caller = new AbortController();
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  it("is over after its time, and says that it was the time", () => {
    const { signal, hasElapsed } = createIdleTimeout(1000, caller.signal);
    mock.timers.tick(999);
    expect([signal.aborted, hasElapsed()]).to.deep.equal([false, false]);
    mock.timers.tick(1);
    expect([signal.aborted, hasElapsed()]).to.deep.equal([true, true]);
  });

  it("gives what came while the process stood still the time to be read", () => {
    let now = 0;
    mock.method(performance, "now", () => now);
    const { signal } = createIdleTimeout(1000, caller.signal);
    now = 5000;
    mock.timers.tick(1000);
    expect(signal.aborted).to.equal(false);
    now = 6000;
    mock.timers.tick(1000);
    expect(signal.aborted).to.equal(true);
  });

  it("ends with the caller's signal, and its reason, be it aborted already", () => {
    const early = createIdleTimeout(1000, caller.signal);
    caller.abort("gone");
    const late = createIdleTimeout(1000, caller.signal);
    for (const { signal, hasElapsed } of [early, late])
      expect([signal.aborted, signal.reason, hasElapsed()]).to.deep.equal([true, "gone", false]);
  });

  it("leaves nothing behind when it has ended", () => {
    const { signal, hasElapsed, end } = createIdleTimeout(1000, caller.signal);
    expect(getEventListeners(caller.signal, "abort")).to.have.length(1);
    end();
    expect(getEventListeners(caller.signal, "abort")).to.deep.equal([]);
    mock.timers.tick(1000);
    expect([signal.aborted, hasElapsed()]).to.deep.equal([false, false]);
  });
});
