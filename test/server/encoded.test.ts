import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import { type Door, openDoor } from "../support/http.ts";

const LONG = Buffer.from(JSON.stringify({ text: "The same for everybody. ".repeat(500) }));
const DECODE = { br: brotliDecompressSync, gzip: gunzipSync } as const;

describe("a document on the wire", () => {
  let door: Door;
  before(async () => {
    const page = { type: "text/html; charset=utf-8", body: LONG };
    door = await openDoor([], {
      documents: new Map([
        ["/long.json", { type: "application/openapi+json", body: LONG }],
        ["/short.json", { type: "application/json", body: Buffer.from("{}") }],
        ["/picture.png", { type: "image/png", body: Buffer.alloc(9000, 1) }],
        ["/both", { ...page, alternatives: [{ type: "application/json", body: LONG }] }],
      ]),
    });
  });
  after(() => door.close({ graceMs: 0 }));

  /** As it comes: `fetch` would decode it. */
  async function ask(path: string, headers: Readonly<Record<string, string>>) {
    const sent = request(door.url + path, { headers }).end();
    const [response] = await once(sent, "response");
    const { statusCode: status, headers: got } = response as { statusCode: number; headers: IncomingHttpHeaders };
    return { status, got, body: await buffer(response) };
  }
  const accept = (codings: string): Readonly<Record<string, string>> => ({ "accept-encoding": codings });

  for (const [asked, coding] of [
    ["gzip, deflate, br, zstd", "br"],
    ["br;q=0.1, gzip", "br"],
    ["gzip", "gzip"],
    ["gzip, br;q=0", "gzip"],
    ["*", "br"],
  ] as const)
    it(`is ${coding} for who accepts "${asked}", a tenth as long, and the same`, async () => {
      const { status, got, body } = await ask("/long.json", accept(asked));
      expect(status).to.equal(200);
      expect(got["content-encoding"]).to.equal(coding);
      expect(got.vary).to.equal("Accept-Encoding");
      expect(got["content-length"]).to.equal(String(body.length));
      expect(body.length).to.be.below(LONG.length / 10);
      expect(DECODE[coding](body)).to.deep.equal(LONG);
    });

  for (const asked of [undefined, "", "identity", "deflate", "gzip;q=0, br;q=0"])
    it(`is as it is for who accepts ${asked === undefined ? "nothing in particular" : `"${asked}"`}`, async () => {
      const { got, body } = await ask("/long.json", asked === undefined ? {} : accept(asked));
      expect(got["content-encoding"]).to.equal(undefined);
      expect(got.vary).to.equal("Accept-Encoding");
      expect(body).to.deep.equal(LONG);
    });

  it("is not encoded where that gains nothing", async () => {
    for (const path of ["/short.json", "/picture.png"]) {
      const { got } = await ask(path, accept("br, gzip"));
      expect(got["content-encoding"]).to.equal(undefined);
      expect(got.vary).to.equal(undefined);
    }
  });

  it("has an ETag for each of its forms, and is not sent again to who has this form", async () => {
    const forms = await Promise.all(["identity", "gzip", "br"].map((coding) => ask("/long.json", accept(coding))));
    const tags = forms.map(({ got }) => got.etag ?? "");
    expect(new Set(tags).size).to.equal(3);
    for (const [at, coding] of ["identity", "gzip", "br"].entries())
      for (const tag of tags) {
        const { status, got, body } = await ask("/long.json", { ...accept(coding), "if-none-match": tag });
        expect(status).to.equal(tag === tags[at] ? 304 : 200);
        expect(got.etag).to.equal(tags[at]);
        expect(got.vary).to.equal("Accept-Encoding");
        if (status === 304) expect(body).to.have.length(0);
      }
  });

  it("is chosen by type and coding at once", async () => {
    for (const [type, expected] of [
      ["application/json", "application/json"],
      ["text/html", "text/html; charset=utf-8"],
    ] as const) {
      const { got, body } = await ask("/both", { ...accept("gzip"), accept: type });
      expect(got["content-type"]).to.equal(expected);
      expect(got.vary).to.equal("Accept, Accept-Encoding");
      expect(gunzipSync(body)).to.deep.equal(LONG);
    }
  });
});
