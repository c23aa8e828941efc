import { expect } from "chai";
import { createRefusalLog } from "../../runtime/server/access-log.ts";
import { openServer } from "../../runtime/server/listen.ts";
import { createLogBook, speak } from "../support/http.ts";

describe("a request that cannot be read", () => {
  const { lines, ...log } = createLogBook();
  const said = (): unknown[] =>
    lines.splice(0).map(({ event, status, code, reason }) => [event, status, code, reason].join(" "));

  it("has a line in the log, with the reason", async () => {
    const clock = { now: () => 0 };
    const onRefused = createRefusalLog(log, clock);
    const open = (timeouts = {}) => openServer({ host: "127.0.0.1", port: 0, timeouts, onRefused });
    const server = await open();
    const strict = await open({ headersMs: 50, requestMs: 50 });
    try {
      await speak(server.port, "GARBAGE\r\n\r\n");
      await speak(server.port, `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${"x".repeat(40_000)}\r\n\r\n`);
      const hostless = await speak(server.port, "GET / HTTP/1.1\r\n\r\n");
      expect(hostless).to.match(/^HTTP\/1.1 400 .*"detail":"The request has no Host header","code":"bad-request"/s);
      await speak(server.port, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n");
      expect(said()).to.deep.equal([
        "http.refused 400 bad-request HPE_INVALID_METHOD",
        "http.refused 431 headers-too-large HPE_HEADER_OVERFLOW",
        "http.refused 400 bad-request NO_HOST",
        "http.refused 405 method-not-allowed CONNECT",
      ]);
      await speak(strict.port, "GET / HTTP/1.1\r\nHost: ");
      expect(said()).to.deep.equal(["http.refused 408 request-timeout ERR_HTTP_REQUEST_TIMEOUT"]);
    } finally {
      await Promise.all([server, strict].map((one) => one.close({ graceMs: 0 })));
    }
  });

  it("is bounded in a flood, like the lines of all others", () => {
    const clock = { at: 0, now: () => clock.at };
    const tell = createRefusalLog(log, clock);
    const problem = { status: 400, code: "bad-request" } as Parameters<typeof tell>[0];
    for (let n = 0; n < 1500; n += 1) tell(problem, undefined);
    expect(lines.splice(0)).to.have.length(1000);
    clock.at = 10_000;
    tell(problem, undefined);
    expect(lines.splice(0).map(({ event }) => event)).to.deep.equal(["http.lines-omitted", "http.refused"]);
  });

  it("has its line after a flood also where the clock was set back meanwhile", () => {
    const clock = { at: 3_600_000, now: () => clock.at };
    const tell = createRefusalLog(log, clock);
    const problem = { status: 400, code: "bad-request" } as Parameters<typeof tell>[0];
    for (let n = 0; n < 1500; n += 1) tell(problem, undefined);
    lines.splice(0);
    clock.at = 0;
    tell(problem, undefined);
    expect(lines.splice(0).map(({ event }) => event)).to.deep.equal(["http.lines-omitted", "http.refused"]);
  });
});
