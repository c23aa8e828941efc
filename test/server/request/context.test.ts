import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { CUT_OFF } from "../../../runtime/core/call.ts";
import { type OpenServer, openServer } from "../../../runtime/server/listen.ts";
import { disconnectSignal } from "../../../runtime/server/request/context.ts";

describe("the signal of a call in flight", () => {
  let server: OpenServer;
  beforeEach(async () => {
    server = await openServer({ host: "127.0.0.1", port: 0 });
  });
  afterEach(() => server.close({ graceMs: 0 }));

  /** Sends a request that is never answered, and ends it. @returns why its signal was aborted */
  async function endCall(end: (leave: () => void) => unknown): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<AbortSignal>();
    server.attach((_, response) => resolve(disconnectSignal(response)));
    const caller = connect(server.port, "127.0.0.1").on("error", () => {});
    caller.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    const signal = await promise;
    const aborted = once(signal, "abort");
    end(() => caller.destroy());
    await aborted;
    return signal.reason;
  }

  it("tells a caller that has left from one that the server has cut off when its grace was over", async () => {
    const left = await endCall((leave) => leave());
    expect(left).to.be.instanceOf(DOMException).and.not.to.equal(CUT_OFF);
    expect(await endCall(() => server.close({ graceMs: 50 }))).to.equal(CUT_OFF);
  });
});
