import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { createHostLog } from "../../../runtime/cli/embed/host-log.ts";

describe("the log of a host", () => {
  const { error } = console;
  afterEach(() => {
    console.error = error;
  });

  it("may be async, and does not end the process when it rejects", async () => {
    const said: unknown[] = [];
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.prependListener("unhandledRejection", note);
    console.error = (text: unknown) => void said.push(text);
    const reject = async (): Promise<void> => {
      throw new Error("the collector is gone");
    };
    const log = createHostLog({ info: reject, warn: reject, error: reject }, "info");
    log.info("one");
    log.error("two");
    await setImmediate();
    process.off("unhandledRejection", note);
    expect(unhandled).to.deep.equal([]);
    expect(said).to.deep.equal(["payphone: the log cannot be written: the collector is gone"]);
  });
});
