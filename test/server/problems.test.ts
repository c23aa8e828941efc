import { expect } from "chai";
import { PROBLEMS, Problem, type ProblemCode, toValueError } from "../../runtime/api/problem.ts";
import { eventually } from "../support/eventually.ts";
import { type Door, jsonOf, LIMITS, openDoor, speak, toService } from "../support/http.ts";

const SERVICES = [
  toService({ id: "verify", route: "POST /v1/verify", aliases: ["GET /v1/verify"] }),
  toService({ id: "poll", route: "GET /v1/jobs/{job_id}" }),
];

describe("a problem", () => {
  let door: Door;
  let thrown: unknown;
  let work: ((signal: AbortSignal) => Promise<never>) | undefined;
  before(async () => {
    door = await openDoor(SERVICES, {
      invoke: async (_, { signal }) => {
        if (work) return work(signal);
        throw thrown;
      },
    });
  });
  after(() => door.close({ graceMs: 0 }));

  const meet = async (error: unknown): Promise<Response> => {
    thrown = error;
    return fetch(`${door.url}/v1/verify`, { headers: { "x-request-id": "meet-1" } });
  };

  it("of every code is a problem document with its status, its request id and no-store", async () => {
    for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
      const response = await meet(new Problem(code, "A sentence", { members: { more: 1, status: 299, code: "x" } }));
      expect(response.status).to.equal(PROBLEMS[code].status);
      expect(response.headers.get("content-type")).to.equal("application/problem+json");
      expect(response.headers.get("cache-control")).to.equal("no-store");
      expect(await jsonOf(response)).to.deep.equal({
        type: `urn:payphone:problem:${code}`,
        title: PROBLEMS[code].title,
        status: PROBLEMS[code].status,
        detail: "A sentence",
        code,
        more: 1,
        request_id: "meet-1",
      });
    }
  });

  it("of an input is exactly HTTPValidationError, as application/json", async () => {
    const issues = [{ loc: ["body", "low"], msg: "Field required", type: "missing", input: {} }];
    const response = await meet(new Problem("invalid-input", undefined, { issues }));
    expect(response.status).to.equal(422);
    expect(response.headers.get("content-type")).to.equal("application/json");
    expect(await response.text()).to.equal(JSON.stringify({ detail: issues }));
  });

  it("that passes says when to try again", async () => {
    expect((await meet(new Problem("unavailable", "x", { retryAfter: 42 }))).headers.get("retry-after")).to.equal("42");
    for (const code of [
      "payment-in-progress",
      "payment-conflict",
      "facilitator-unavailable",
      "settlement-unknown",
      "unavailable",
      "upstream-failed",
    ] as const)
      expect((await meet(new Problem(code))).headers.get("retry-after"), code).to.match(/^[1-9]\d*$/);
    for (const [retryAfter, sent] of [
      [1.2, "2"],
      [-3, "0"],
      [Number.NaN, "5"],
      [Number.POSITIVE_INFINITY, "5"],
    ] as const)
      expect((await meet(new Problem("unavailable", "x", { retryAfter }))).headers.get("retry-after")).to.equal(sent);
    for (const code of ["not-found", "invalid-input", "internal"] as const)
      expect((await meet(new Problem(code))).headers.get("retry-after"), code).to.equal(null);
  });

  it("on our side shows nothing of itself, and is logged with the request's id", async () => {
    const response = await meet(new Error("password=hunter2"));
    expect(response.status).to.equal(500);
    expect(await response.text()).not.to.match(/hunter2|stack|\.ts/);
    const line = door.lines.filter(({ event }) => event === "http.failed").at(-1);
    expect(line).to.deep.equal({ level: "error", event: "http.failed", id: "meet-1", error: thrown });
  });

  it("that was refused in words, as by a full queue, is a warning without a place in the code", async () => {
    expect(
      (await meet(new Problem("unavailable", "32 jobs are in line already; nothing was charged"))).status,
    ).to.equal(503);
    const line = door.lines.filter(({ event }) => event === "http.failed").at(-1);
    const error = "32 jobs are in line already; nothing was charged";
    expect(line).to.deep.equal({ level: "warn", event: "http.failed", id: "meet-1", error });
    await meet(new Problem("unavailable", "The store is down", { cause: new Error("EIO") }));
    expect(door.lines.filter(({ event }) => event === "http.failed").at(-1)).to.have.property("level", "error");
  });

  it("on our side is one also where a library's error has a status of its own", async () => {
    const response = await meet(Object.assign(new Error("401 Incorrect API key"), { status: 401 }));
    expect(response.status).to.equal(500);
    expect((await jsonOf(response)).code).to.equal("internal");
    expect(door.lines.filter(({ event }) => event === "http.failed").at(-1)?.error).to.equal(thrown);
  });

  it("cannot be made with a code that there is not, or with what JSON cannot hold", async () => {
    expect(() => new Problem("missing" as ProblemCode, "A sentence")).to.throw(RangeError, 'no problem code "missing"');
    expect(() => new Problem("not-found", "A sentence", { members: { amount: 1n } })).to.throw(TypeError, "BigInt");
    const issues = [toValueError("must be even", 1n, "amount")];
    expect(await jsonOf(await meet(new Problem("invalid-input", undefined, { issues })))).to.deep.equal({
      detail: [{ ...issues[0], input: "1" }],
    });
  });

  it("of a caller who has left is nobody's failure, and in no log of failures", async () => {
    const before = door.lines.length;
    const leaving = new AbortController();
    work = (signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(new Problem("unavailable", "The caller is gone")));
      leaving.abort();
      return promise;
    };
    await fetch(`${door.url}/v1/verify`, { signal: leaving.signal }).catch(() => undefined);
    await eventually(() => door.lines.slice(before).some(({ event }) => event === "http.request"));
    expect(door.lines.slice(before).map(({ event }) => event)).to.deep.equal(["http.request"]);
    work = undefined;
  });

  it("may be anything that was thrown", async () => {
    for (const error of [undefined, null, "text", 7, { status: 404 }, Object.assign(new Error("x"), { status: 200 })])
      expect((await meet(error)).status).to.equal(500);
  });

  it("of a path that cannot be decoded is the client's", async () => {
    const answer = await speak(door.port, "GET /v1/jobs/%c0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(answer).to.match(/^HTTP\/1.1 400 .*"code":"bad-request"/s);
  });

  it("is a 404 at an unknown path, for every method", async () => {
    for (const method of ["GET", "HEAD", "POST", "OPTIONS", "DELETE"]) {
      const response = await fetch(`${door.url}/v1/nothing`, { method });
      expect(response.status, method).to.equal(404);
      if (method !== "HEAD") expect((await jsonOf(response)).code).to.equal("not-found");
    }
  });

  it("is a 405 with Allow at a known path, for every other method", async () => {
    for (const [path, allow] of [
      ["/v1/verify", "GET, HEAD, POST, OPTIONS"],
      ["/v1/jobs/7", "GET, HEAD, OPTIONS"],
      ["/health", "GET, HEAD, OPTIONS"],
      ["/", "GET, HEAD, OPTIONS"],
    ] as const)
      for (const method of ["PUT", "PATCH", "DELETE"]) {
        const response = await fetch(door.url + path, { method });
        expect(response.status, path).to.equal(405);
        expect(response.headers.get("allow"), path).to.equal(allow);
        expect((await jsonOf(response)).code).to.equal("method-not-allowed");
      }
  });

  it("is a 414 when the URL is too long", async () => {
    const path = `/v1/jobs/${"x".repeat(LIMITS.url_bytes - "/v1/jobs/".length)}`;
    thrown = new Problem("not-found");
    expect((await fetch(door.url + path)).status).to.equal(404);
    const response = await fetch(`${door.url}${path}x`);
    expect(response.status).to.equal(414);
    expect(await jsonOf(response)).to.include({ code: "uri-too-long" });
  });

  it("is a 431 when the headers are too large, which the client can still read", async () => {
    for (const size of [33_000, 500_000]) {
      const answer = await speak(door.port, `GET /health HTTP/1.1\r\nHost: x\r\nX-Big: ${"x".repeat(size)}\r\n\r\n`);
      expect(answer).to.match(/^HTTP\/1.1 431 .*"code":"headers-too-large"/s);
      expect(answer, "in browsers, too").to.match(/^access-control-allow-origin: \*\r$/im);
    }
  });

  it("never breaks into an answer that is under way", async () => {
    const answers = await speak(door.port, "GET /health HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n");
    const [first, second = ""] = answers.split(/(?<=\})(?=HTTP)/);
    expect(first).to.match(/^HTTP\/1.1 200 /);
    expect(second).to.match(/^(HTTP\/1.1 400 |$)/);
  });
});
