import { expect } from "chai";
import type { UpstreamAnswer } from "../../../runtime/api/capabilities.ts";
import { eventually } from "../../support/eventually.ts";
import { type Bench, NEVER, openBench } from "../../support/sources/live-upstream.ts";
import type { Line } from "../../support/sources/scripted-source.ts";

describe("requests that are the same, at the same time", () => {
  let bench: Bench;
  let release: () => void;
  let held: Line;
  let brokenOff: number;
  beforeEach(async () => {
    bench = await openBench();
    brokenOff = 0;
    const gate = Promise.withResolvers<void>();
    release = gate.resolve;
    held = async (response) => {
      response.on("close", () => {
        if (!response.writableFinished) brokenOff += 1;
      });
      await gate.promise;
      response.end('{"jsonrpc":"2.0","id":1,"result":["0x1"]}');
    };
    bench.source.script(held);
  });
  afterEach(() => bench.close());
  const isAsked = (): Promise<boolean> => eventually(() => bench.source.asked.length > 0);

  it("are one request, of 200 callers", async () => {
    const upstream = bench.open();
    const all = Array.from({ length: 200 }, () => upstream.get("/a", { query: { b: "c" }, signal: NEVER }));
    await isAsked();
    release();
    const answers = await Promise.all(all);
    expect(new Set(answers.map(({ text }) => text))).to.have.property("size", 1);
    expect(bench.source.asked).to.have.length(1);
  });

  it("are one request as posts and as calls of a node, each caller with data of its own", async () => {
    const upstream = bench.open();
    const calls = [1, 2].map(() => upstream.rpc("eth_accounts", ["latest"], { signal: NEVER }));
    const posts = [1, 2].map(() => upstream.post("/a", { b: 1 }, { signal: NEVER }));
    await eventually(() => bench.source.asked.length === 2);
    release();
    const [first, second] = await Promise.all(calls);
    expect(first).to.deep.equal({ result: ["0x1"] });
    expect(second).to.deep.equal(first);
    expect(second?.result).not.to.equal(first?.result);
    const [post, other] = (await Promise.all(posts)) as [UpstreamAnswer, UpstreamAnswer];
    expect(post.json()).to.deep.equal(other.json());
    expect(post.json()).not.to.equal(other.json());
    expect(bench.source.asked).to.have.length(2);
  });

  it("are different ones when anything in them differs", async () => {
    release();
    const upstream = bench.open();
    const signal = NEVER;
    await Promise.all([
      upstream.get("/a", { signal }),
      upstream.get("/b", { signal }),
      upstream.get("/a", { query: { b: "1" }, signal }),
      upstream.get("/a", { headers: { accept: "text/plain" }, signal }),
      upstream.post("/a", 1, { signal }),
      upstream.post("/a", 2, { signal }),
    ]);
    expect(bench.source.asked).to.have.length(6);
  });

  it("go on for the others when one caller leaves, be it the first", async () => {
    const upstream = bench.open();
    const [first, second] = [new AbortController(), new AbortController()];
    const asking = [first, second].map(({ signal }) => upstream.get("", { signal }));
    await isAsked();
    first.abort(new Error("gone"));
    expect(await asking[0]?.catch(({ message }: Error) => message)).to.equal("gone");
    release();
    expect(await asking[1]).to.have.property("status", 200);
    expect([bench.source.asked.length, brokenOff]).to.deep.equal([1, 0]);
  });

  it("are broken off when the last caller has left, and begun anew by the next", async () => {
    const upstream = bench.open();
    const callers = [new AbortController(), new AbortController()];
    const asking = callers.map(({ signal }) => upstream.get("", { signal }).catch(() => "left"));
    await isAsked();
    for (const caller of callers) caller.abort();
    expect(await Promise.all(asking)).to.deep.equal(["left", "left"]);
    const next = upstream.get("", { signal: NEVER });
    await eventually(() => brokenOff === 1);
    release();
    expect(await next).to.have.property("status", 200);
    expect(bench.source.asked).to.have.length(2);
  });

  it("are not begun for a caller who has left before", async () => {
    const error = await bench
      .open()
      .get("", { signal: AbortSignal.abort("before") })
      .catch((reason: unknown) => reason);
    expect(error).to.equal("before");
    expect(bench.source.asked).to.deep.equal([]);
  });

  it("are asked anew when the first has been answered: nothing is kept", async () => {
    release();
    const upstream = bench.open();
    await upstream.get("", { signal: NEVER });
    await upstream.get("", { signal: NEVER });
    expect(bench.source.asked).to.have.length(2);
  });
});
