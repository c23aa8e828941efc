import type { Socket } from "node:net";
import { pipeline, Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { expect } from "chai";
import nock from "nock";
import { problemOf } from "../../plugins/host.ts";
import { eventually } from "../../support/eventually.ts";
import { type Bench, NEVER, openBench } from "../../support/sources/live-upstream.ts";
import { offline } from "../../support/sources/replay.ts";
import { type Line, openSource, play, type ScriptedSource } from "../../support/sources/scripted-source.ts";

function* endless(): Iterable<string> {
  for (;;) yield " ".repeat(65_536);
}

describe("the way to upstreams", () => {
  let bench: Bench;
  let other: ScriptedSource;
  beforeEach(async () => {
    bench = await openBench();
    other = await openSource();
  });
  afterEach(() => Promise.all([bench.close(), other.close()]));
  const get = (): Promise<{ status: number; text: string }> =>
    bench
      .open({ headers: { "x-api-key": "k-5f1c9e", authorization: "k-5f1c9e" } })
      .get("/start", { query: { q: "1" }, signal: NEVER });
  const redirect = (location: string, status = 302) => ({ status, headers: { location } });

  it("keeps its connections", async () => {
    for (let asked = 0; asked < 20; asked++) await get();
    expect(bench.source.connections()).to.be.at.most(2);
  });

  it("keeps its connection after a failure, too", async () => {
    bench.source.script({ status: 503, body: "x".repeat(10_000) }, "{}");
    await get();
    expect([bench.source.asked.length, bench.source.connections()]).to.deep.equal([2, 1]);
  });

  it("opens 512 connections to one origin, so that calls of a slow one do not fail in a queue, and no more", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.source.script(async (response) => {
      await promise;
      response.end();
    });
    const upstream = bench.open();
    const all = Array.from({ length: 600 }, (_, at) => upstream.get(`/${at}`, { signal: NEVER }));
    await eventually(() => bench.source.asked.length === 512);
    resolve();
    await Promise.all(all);
    expect([bench.source.asked.length, bench.source.connections()]).to.deep.equal([600, 512]);
  });

  for (const [encoding, createEncoder] of Object.entries({
    br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    deflate: createDeflate,
    gzip: createGzip,
    "X-GZip": createGzip,
    zstd: createZstdCompress,
  })) {
    const send =
      (content: Iterable<string>): Line =>
      (response) => {
        response.writeHead(200, { "content-encoding": encoding });
        pipeline(Readable.from(content), createEncoder(), response, () => {});
      };

    it(`understands ${encoding}`, async () => {
      bench.source.script(send(["text, ".repeat(1000)]));
      expect((await get()).text).to.equal("text, ".repeat(1000));
      expect(bench.source.asked[0]?.headers["accept-encoding"]).to.equal("gzip, br");
      await get();
      expect(bench.source.connections(), "which are kept").to.equal(1);
    });

    it(`counts what comes out of ${encoding}, and does not wait for the end of what has none`, async () => {
      let isOver = false;
      bench.source.script((response, asked) => {
        response.on("close", () => {
          isOver = true;
        });
        play(send(endless()), response, asked);
      });
      expect((await problemOf(get())).message).to.equal("Source answered with more than 2097152 bytes");
      await eventually(() => isOver);
      expect(bench.source.asked).to.have.length(1);
    });
  }

  it("understands encodings upon each other, whatever else is said there", async () => {
    const body = brotliCompressSync(gzipSync("text"));
    bench.source.script({ headers: { "content-encoding": "gzip, aws-chunked, br" }, body });
    expect((await get()).text).to.equal("text");
  });

  it("asks again when a compressed body was cut short", async () => {
    const whole = gzipSync("text, ".repeat(1000));
    const headers = { "content-encoding": "gzip" };
    bench.source.script({ headers, body: whole.subarray(0, -20) }, { headers, body: whole });
    expect((await get()).text).to.equal("text, ".repeat(1000));
  });

  it("holds no connection on which more comes after the end of what is compressed", async () => {
    for (const [encoding, body] of [
      ["br", brotliCompressSync("text")],
      ["gzip, br", brotliCompressSync(gzipSync("text"))],
      ["br, gzip", Buffer.concat([gzipSync(brotliCompressSync("text")), Buffer.alloc(10)])],
    ] as const) {
      const { promise: isOver, resolve } = Promise.withResolvers<void>();
      bench.source.script((response) => {
        response.writeHead(200, { "content-encoding": encoding }).write(body);
        pipeline(Readable.from(endless()), response, () => resolve());
      });
      expect((await get()).text, encoding).to.equal("text");
      await isOver;
    }
  });

  it("takes the first of several frames of zstd for no answer", async () => {
    const frame = zstdCompressSync("one\n".repeat(1000));
    const headers = { "content-encoding": "zstd" };
    bench.source.script({ headers, body: frame }, { headers, body: Buffer.concat([frame, frame]) });
    expect((await get()).text).to.equal("one\n".repeat(1000));
    expect((await problemOf(get())).code).to.equal("upstream-failed");
  });

  it("takes no reset for the end of an answer whose length nothing says, and the end of the connection for it", async () => {
    const upstream = bench.open({ retries: 0 });
    for (const [end, isWhole] of [
      [(socket: Socket) => socket.end(), true],
      [(socket: Socket) => socket.resetAndDestroy(), false],
    ] as const) {
      bench.source.script(async ({ socket }) => {
        socket?.write("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\none\ntwo\n");
        for (let turn = 0; turn < 20; turn += 1) await setImmediate(); // Until the other end has read it.
        end(socket as Socket);
      });
      const ask = upstream.get("/start", { signal: NEVER });
      if (isWhole) expect((await ask).text).to.equal("one\ntwo\n");
      else expect((await problemOf(ask)).code).to.equal("upstream-failed");
    }
  });

  it("takes an empty body, whatever its encoding", async () => {
    bench.source.script({ status: 404, headers: { "content-encoding": "gzip", "content-length": "0" } });
    expect(await get()).to.include({ status: 404, text: "" });
    bench.source.script({ status: 204, headers: { "content-encoding": "gzip" } });
    expect(await get()).to.include({ status: 204, text: "" });
    for (const encoding of ["br", "deflate", "gzip", "gzip, br", "zstd"]) {
      bench.source.script({ headers: { "content-encoding": encoding, "transfer-encoding": "chunked" } });
      expect(await get(), encoding).to.include({ status: 200, text: "" });
    }
  });

  for (const status of [301, 302, 303, 307, 308])
    it(`follows a ${status} within an origin, with everything that was said`, async () => {
      bench.source.script(redirect("/next?r=2", status), "there");
      expect((await get()).text).to.equal("there");
      expect(bench.source.asked.map(({ path }) => path)).to.deep.equal(["/start?q=1", "/next?r=2"]);
      expect(bench.source.asked[1]?.headers).to.include({ "x-api-key": "k-5f1c9e", authorization: "k-5f1c9e" });
    });

  it("follows a redirect to another origin without credentials, whatever their header is called", async () => {
    bench.source.script(redirect(`${other.url}/signed`));
    other.script("there");
    expect((await get()).text).to.equal("there");
    expect(JSON.stringify(other.asked)).not.to.include("k-5f1c9e");
    expect(other.asked[0]?.headers).to.include({ "user-agent": "payphone", "accept-encoding": "gzip, br" });
  });

  it("lets the connection of a redirect go", async () => {
    const away = { ...redirect("/next"), body: "x".repeat(100_000) };
    for (let followed = 0; followed < 40; followed++) {
      bench.source.script(away, "{}");
      await get();
    }
  });

  it("lets the connection of a failure go, however much it says", async () => {
    const limit = { status: 429, body: "x".repeat(500_000) };
    bench.source.script(...Array(39).fill(limit), "{}");
    const upstream = bench.open({ retries: 39, pauseMs: 0 });
    expect(await upstream.get("", { signal: NEVER })).to.have.property("status", 200);
  });

  it("does not get its credentials back by a redirect to where it came from", async () => {
    bench.source.script(redirect(`${other.url}/away`), "there");
    other.script(redirect(`${bench.source.url}/back`));
    await get();
    expect(bench.source.asked[1]?.headers).not.to.have.any.keys("x-api-key", "authorization");
  });

  it("follows three redirects, and takes the fourth as the answer", async () => {
    bench.source.script(redirect("/again"));
    expect(await get()).to.have.property("status", 302);
    expect(bench.source.asked).to.have.length(4);
  });

  it("takes a redirect as the answer when it leads nowhere, or out of HTTP", async () => {
    for (const location of ["http://", "ftp://127.0.0.1/", "file:///etc/passwd", "https:/\\"]) {
      bench.source.script(redirect(location));
      expect(await get(), location).to.have.property("status", 302);
    }
    bench.source.script(302);
    expect(await get()).to.have.property("status", 302);
  });

  describe("that begins with https", () => {
    offline();

    it("is never led to http", async () => {
      nock("https://source.test")
        .get("/start?q=1")
        .reply(302, "", { location: `${other.url}/next` });
      const upstream = bench.open({ url: "https://source.test" });
      expect(await upstream.get("/start", { query: { q: "1" }, signal: NEVER })).to.have.property("status", 302);
      expect(other.asked).to.deep.equal([]);
    });
  });

  it("does not follow the redirect of a post", async () => {
    bench.source.script(redirect("/next", 307));
    expect(await bench.open().post("", { q: 1 }, { signal: NEVER })).to.have.property("status", 307);
    expect(bench.source.asked).to.have.length(1);
  });
});
