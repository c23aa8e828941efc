import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import { breaks, type Line } from "../../support/sources/scripted-source.ts";
import type { Loose } from "../../surfaces/mcp/served/support/stall.ts";

const FILM = `id: film
title: Film
description: Makes a film of a word.
route: POST /v1/film
price: "0.5"
proxy:
  upstream: studio
  request: POST /films
  body: input
  headers: { accept-language: en }
  answer: { pick: /film }
  poll:
    request: GET /films/{/film/id}
    done: /film/state in ["ready", "done"]
    failed: /film/state == "failed"
    error: /film/reason
    seconds: 0.1
job:
  status_route: GET /v1/film/{job_id}
  eta_seconds: 5
  deadline_seconds: 20
  attempts: 2
  concurrency: 2
  queue_limit: 10
  refund: true
input: { type: object, properties: { word: { type: string } }, required: [word] }
output: { type: object, properties: { url: { type: string } }, required: [url] }
tags: []
examples:
  - input: { word: apple }
    output: { url: "https://example.com/apple" }
`;
const REEL = FILM.replaceAll("film", "reel")
  .replaceAll("/reels", "/films")
  .replaceAll("/reel/", "/film/")
  .replaceAll("/film/{job", "/reel/{job")
  .replace("pick: /reel", "wrap: url")
  .replace("    seconds: 0.1", "    seconds: 0.1\n    result: GET /films/{/film/id}/result");

/** Gives up after two seconds. */
const CLIP = FILM.replaceAll("film", "clip")
  .replaceAll("/clips", "/films")
  .replaceAll("/clip/", "/film/")
  .replaceAll("/film/{job", "/clip/{job")
  .replace("pick: /clip", "pick: /film")
  .replace("deadline_seconds: 20\n  attempts: 2", "deadline_seconds: 2\n  attempts: 1");

/** Polled until its state is another one, in one attempt. */
const toOther = (id: string, done: string, failed: string): string =>
  FILM.replaceAll("film", id)
    .replaceAll(`/${id}s`, "/films")
    .replaceAll(`/${id}/`, "/film/")
    .replace(`/film/{job_id}`, `/${id}/{job_id}`)
    .replace(`pick: /${id}`, "pick: /film")
    .replace(/done: .*/, `done: ${done}`)
    .replace(/failed: .*/, `failed: ${failed}`)
    .replace("attempts: 2", "attempts: 1");
const TAPE = toOther("tape", '/film/state != "running"', "/film/reason");
const DISC = toOther("disc", "/film/url", '/film/state != "running"');
/** Is polled at an address with a field of the input in it. */
const SONG = FILM.replaceAll("film", "song")
  .replaceAll("/songs/{/song/id}", "/films/{word}/{/film/id}{word}")
  .replaceAll("/song/{job", "/SONG/{job")
  .replaceAll("/song/", "/film/")
  .replace("/SONG/", "/song/")
  .replaceAll("/songs", "/films")
  .replace("pick: /song", "pick: /film");

const film = (parts: object, status = 200): Line => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ film: { id: "f/1", ...parts } }),
});

describe("an upstream that takes orders", () => {
  let shop: ProxyShop;
  beforeEach(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(`{ id: studio, title: The studio, url: "${url}", retries: 0 }`),
        "manifests/film.yaml": FILM,
        "manifests/reel.yaml": REEL,
        "manifests/clip.yaml": CLIP,
        "manifests/tape.yaml": TAPE,
        "manifests/disc.yaml": DISC,
        "manifests/song.yaml": SONG,
      }),
    });
  });
  afterEach(() => shop.close());

  const follow = async (path: string, wanted: string): Promise<Loose> => {
    const { status_url } = (await (await shop.buy(path, { word: "apple" })).json()) as Loose;
    return eventually(
      async () => (await (await fetch(status_url)).json()) as Loose,
      ({ status }) => status === wanted,
    );
  };
  const paths = (): string[] => shop.source.asked.map(({ method, path }) => `${method} ${path}`);

  it("is polled until it is done, with the parts of its first answer", async () => {
    const order = film({ id: "f-1", state: "new" }, 201);
    shop.source.script(order, film({ state: "running" }), 503, film({ state: "ready", url: "https://x.example/1" }));
    const { deliverable } = await follow("/v1/film", "DELIVERED");
    expect(deliverable).to.deep.equal({ url: "https://x.example/1" });
    expect(paths()).to.deep.equal(["POST /films", ...Array(3).fill("GET /films/f-1")]);
    expect(shop.source.asked[0]?.body).to.equal('{"word":"apple"}');
    expect(shop.source.asked[1]?.headers).to.include({ "accept-language": "en" });
    expect([shop.rail.moved.size, shop.refunds.length]).to.deep.equal([1, 0]);
  });

  it("is not asked without a pause, also where it says that none is needed", async () => {
    const at: number[] = [];
    const running = film({ state: "running" }) as { readonly body: string };
    const now: Line = (response) => {
      at.push(performance.now());
      const more = {
        "content-type": "application/json",
        "retry-after": at.length % 2 ? "0" : new Date(0).toUTCString(),
      };
      response.writeHead(200, more).end(running.body);
    };
    shop.source.script(
      film({ id: "f-1" }, 201),
      ...Array<Line>(8).fill(now),
      film({ state: "ready", url: "https://x.example/1" }),
    );
    await follow("/v1/film", "DELIVERED");
    expect((at.at(-1) as number) - (at[0] as number)).to.be.at.least(650); // Timers may be a little early.
  });

  it("is polled again, and not given up, after it has asked for fewer questions", async () => {
    shop.source.script(film({ id: "f-1" }, 201), film({}, 429), film({ state: "ready", url: "https://x.example/1" }));
    await follow("/v1/tape", "DELIVERED");
    expect([shop.source.asked.length, shop.refunds.length]).to.deep.equal([3, 0]);
  });

  it("gives its result at another address", async () => {
    shop.source.script(film({ id: "f-1" }, 201), film({ state: "done" }), '"https://x.example/2"');
    expect((await follow("/v1/reel", "DELIVERED")).deliverable).to.deep.equal({ url: "https://x.example/2" });
    expect(paths()).to.deep.equal(["POST /films", "GET /films/f-1", "GET /films/f-1/result"]);
  });

  it("is paid back at once when it says that it has failed, with its own words", async () => {
    shop.source.script(film({ id: "f-1" }), film({ state: "failed", reason: "no such <b>word</b>" }));
    const { error } = await follow("/v1/film", "FAILED");
    expect(error).to.equal("The studio failed: no such word");
    await eventually(
      async () => shop.refunds.length,
      (count) => count === 1,
    );
    expect(shop.source.asked.length).to.equal(2);
  });

  it("is polled again when a page, or half an answer, says neither that it is done nor that it has failed", async () => {
    const type = { "content-type": "application/json" };
    const running = film({ state: "running" });
    const page: Line = { headers: { "content-type": "text/html" }, body: "<html>A moment</html>" };
    const half: Line = { headers: type, body: '{"film":{"state":"r' };
    for (const [path, state] of [
      ["/v1/tape", "ready"],
      ["/v1/disc", "running"],
    ] as const) {
      shop.source.script(film({ id: "f-1" }), page, running, half, film({ state, url: "https://x.example/3" }));
      const { deliverable } = await follow(path, "DELIVERED");
      expect(deliverable).to.deep.equal({ url: "https://x.example/3" });
    }
    expect([shop.source.asked.length, shop.refunds.length]).to.deep.equal([10, 0]);
  });

  it("is polled again while it does not know a new order yet, but not for long, nor once it has known it", async () => {
    const unknown: Line = { status: 404, body: '{"message":"no such film"}' };
    shop.source.script(film({ id: "f-1" }), unknown, unknown, film({ state: "ready", url: "https://x.example/1" }));
    expect((await follow("/v1/tape", "DELIVERED")).deliverable).to.deep.equal({ url: "https://x.example/1" });
    shop.source.script(film({ id: "f-1" }), film({ state: "running" }), unknown);
    expect((await follow("/v1/tape", "FAILED")).error).to.equal("The studio: no such film");
    const late: Line = (response) => {
      shop.clock.advance(31_000);
      response.writeHead(404, { "content-type": "application/json" }).end(unknown.body);
    };
    shop.source.script(film({ id: "f-1" }), late, unknown);
    expect((await follow("/v1/tape", "FAILED")).error).to.equal("The studio: no such film");
    expect(shop.source.asked.length).to.equal(4 + 3 + 3);
  });

  it("gets an order again under the same key when its answer was lost, and another order under another key", async () => {
    const ready = film({ state: "ready", url: "https://x.example/1" });
    shop.source.script(breaks, film({ id: "f-1" }, 201), ready, film({ id: "f-1" }, 201), ready);
    await follow("/v1/film", "DELIVERED");
    await follow("/v1/film", "DELIVERED");
    const keys = shop.source.asked.map(({ headers }) => headers["idempotency-key"]);
    const [lost, , , other] = keys;
    expect(lost).to.match(/^[\w-]{36}$/);
    expect(keys).to.deep.equal([lost, lost, undefined, other, undefined]);
    expect(other)
      .to.match(/^[\w-]{36}$/)
      .and.not.equal(lost);
  });

  it("is paid back when it refuses the order", async () => {
    shop.source.script({ status: 422, body: '{"message":"no"}' });
    expect((await follow("/v1/film", "FAILED")).error).to.equal("The studio: no");
    await eventually(
      async () => shop.refunds.length,
      (count) => count === 1,
    );
  });

  it("is sent no order whose polls could not be sent, and nobody pays for one", async () => {
    for (const word of ["a/b", "..", ""]) expect((await shop.buy("/v1/song", { word })).status, word).to.equal(422);
    expect([shop.rail.moved.size, shop.source.asked.length]).to.deep.equal([0, 0]);
    shop.source.script(film({ id: "." }, 201), film({ state: "ready", url: "https://x.example/1" }));
    await follow("/v1/song", "DELIVERED");
    expect(paths()).to.deep.equal(["POST /films", "GET /films/apple/.apple"]);
  });

  it("is paid back when it vanishes after it has taken the order, which is placed once", async () => {
    shop.source.script(film({ id: "f-1" }), breaks);
    await follow("/v1/clip", "FAILED");
    await eventually(
      async () => shop.refunds.length,
      (count) => count === 1,
    );
    expect(paths().filter((path) => path.startsWith("POST"))).to.have.length(1);
    expect(paths().length).to.be.greaterThan(1);
  });

  it("is not led elsewhere by the id that it gives", async () => {
    shop.source.script(film({ id: "../../admin" }));
    const { error } = await follow("/v1/film", "FAILED");
    expect(error).to.match(/bad \/film\/id/);
    expect(new Set(paths())).to.deep.equal(new Set(["POST /films"]));
  });
});
