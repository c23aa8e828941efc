import { text } from "node:stream/consumers";
import { expect } from "chai";
import { problemOf } from "../../plugins/host.ts";
import { eventually } from "../../support/eventually.ts";
import { type Bench, NEVER, openBench } from "../../support/sources/live-upstream.ts";
import { hangs, type Line, stalls } from "../../support/sources/scripted-source.ts";

describe("a stream", () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await openBench();
  });
  afterEach(() => bench.close());

  it("gives the head at once, and the body as it comes in", async () => {
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    bench.source.script(async (response) => {
      response.writeHead(200, { etag: "7" }).write("first ");
      await promise;
      response.end("second");
    });
    const { status, headers, body } = await bench.open().stream("/list", { signal: NEVER });
    expect([status, headers.get("ETag")]).to.deep.equal([200, "7"]);
    const chunks: string[] = [];
    for await (const chunk of body) {
      chunks.push(Buffer.from(chunk).toString());
      goOn();
    }
    expect(chunks).to.deep.equal(["first ", "second"]);
  });

  it("is repeated until its head has come", async () => {
    bench.source.script(503, 503, "body");
    const { body } = await bench.open().stream("", { signal: NEVER });
    expect(await text(body)).to.equal("body");
    expect(bench.source.asked).to.have.length(3);
  });

  it("is not shared", async () => {
    const upstream = bench.open();
    const streams = await Promise.all([1, 2].map(() => upstream.stream("", { signal: NEVER })));
    expect(await Promise.all(streams.map(({ body }) => text(body)))).to.deep.equal(["{}", "{}"]);
    expect(bench.source.asked).to.have.length(2);
  });

  it("may take longer than an attempt, as long as it goes on", async () => {
    let left = 16;
    const drip: Line = (response) => {
      response.writeHead(200);
      const drop = (): void => {
        left -= 1;
        if (left === 0) response.end();
        else response.write("x", () => setTimeout(drop, 150));
      };
      drop();
    };
    bench.source.script(drip);
    const { body } = await bench.open({ timeoutMs: 2000 }).stream("", { signal: NEVER });
    expect(await text(body)).to.equal("x".repeat(15));
  });

  it("fails when nothing more comes", async () => {
    bench.source.script(stalls);
    const { body } = await bench.open({ timeoutMs: 1000 }).stream("", { signal: NEVER });
    expect((await problemOf(text(body))).message).to.equal("Source did not answer in time");
  });

  it("fails when it is broken off, and is not repeated", async () => {
    bench.source.script((response) => response.writeHead(200).write("{", () => response.socket?.destroy()));
    const { body } = await bench.open().stream("", { signal: NEVER });
    const { code, message } = await problemOf(text(body));
    expect([code, message]).to.deep.equal(["upstream-failed", "Source could not be reached, or broke off"]);
    expect(bench.source.asked).to.have.length(1);
  });

  it("ends with the caller's reason, before and after its head", async () => {
    const caller = new AbortController();
    bench.source.script(stalls);
    const { body } = await bench.open().stream("", { signal: caller.signal });
    caller.abort(new Error("gone"));
    expect(await text(body).catch(({ message }: Error) => message)).to.equal("gone");
    bench.source.script(hangs);
    const second = new AbortController();
    const asking = bench.open().stream("", { signal: second.signal });
    second.abort(new Error("gone, too"));
    expect(await asking.catch(({ message }: Error) => message)).to.equal("gone, too");
  });

  it("is not read beyond the bytes that a plugin takes", async () => {
    bench.source.script("x".repeat(1001));
    const { body } = await bench.open().stream("", { maxBytes: 1000, signal: NEVER });
    expect((await problemOf(text(body))).message).to.equal("Source answered with more than 1000 bytes");
  });

  for (const [how, leave] of Object.entries({
    "leaves its loop": async (body: AsyncIterable<Uint8Array>) => {
      for await (const _ of body) break;
    },
    "never reads it": async () => {},
  }))
    it(`lets the connection go when its reader ${how}`, async () => {
      let isClosed = false;
      bench.source.script((response) => {
        response.on("close", () => {
          isClosed = true;
        });
        stalls(response);
      });
      const { body } = await bench.open({ timeoutMs: 1000 }).stream("", { signal: NEVER });
      await leave(body);
      await eventually(() => isClosed);
    });
});
