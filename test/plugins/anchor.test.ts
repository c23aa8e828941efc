import { createHash } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import anchor from "../../plugins/anchor.ts";
import { Problem } from "../../runtime/api/plugin.ts";
import { CODE_POINTS } from "../support/code-points.ts";
import { createHost, faultsOf, NOW, problemOf, type Serve, serve } from "./host.ts";

const HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

describe("an anchor", () => {
  let host: ReturnType<typeof createHost>;
  let ask: Serve;
  beforeEach(async () => {
    host = createHost();
    ask = await serve("anchor", anchor, host);
  });

  it("writes the given hash in lower case and says where it stands", async () => {
    const answer = await ask({ hash: HASH.toUpperCase(), note: "dataset 7" });
    expect(answer).to.deep.include({ merkle_root: HASH, note: "dataset 7", anchored_at: NOW / 1000 });
    expect(answer.base).to.have.all.keys("tx", "explorer_url");
    expect([...host.chain.values()].map(({ input }) => input)).to.deep.equal([`0x${HASH}`]);
  });

  it("hashes data by RFC 8785: sorted keys, ECMAScript numbers, raw text", async () => {
    const { merkle_root } = await ask({ data: { b: [1e21, 0.1, -0], a: "é\n", "€": null } });
    expect(merkle_root).to.equal(sha256('{"a":"é\\n","b":[1e+21,0.1,0],"€":null}'));
  });

  it("gives the same root for the same data, however its keys are ordered", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string({ unit: CODE_POINTS }), fc.jsonValue()), async (data) => {
        const turned = Object.fromEntries(Object.entries(data).reverse());
        expect((await ask({ data })).merkle_root).to.equal((await ask({ data: turned })).merkle_root);
      }),
      { numRuns: 50 },
    );
  });

  for (const data of [0, "", false, [], {}])
    it(`takes ${JSON.stringify(data)} for data`, async () => {
      expect((await ask({ data })).merkle_root).to.equal(sha256(JSON.stringify(data)));
    });

  it("takes null for absent", async () => {
    const answer = await ask({ hash: HASH, data: null, note: null });
    expect(answer).to.deep.include({ merkle_root: HASH, note: null });
    expect((await ask({ hash: null, data: 1 })).merkle_root).to.equal(sha256("1"));
  });

  for (const input of [{}, { hash: null, data: null }, { note: "alone" }])
    it(`refuses ${JSON.stringify(input)}: neither hash nor data`, async () => {
      expect(await faultsOf(ask(input))).to.deep.equal(["body: Value error, provide either hash or data"]);
    });

  it("refuses hash and data together", async () => {
    expect(await faultsOf(ask({ hash: HASH, data: 0 }))).to.deep.equal([
      "body: Value error, hash and data are mutually exclusive: provide one of them",
    ]);
  });

  it("refuses data that has no canonical form, before anything is written", async () => {
    const faults = [await faultsOf(ask({ data: ["\ud800"] })), await faultsOf(ask({ data: { "\udfff": 1 } }))];
    const lone = "body.data: Value error, data cannot be canonicalized by RFC 8785: Lone surrogate is not allowed";
    expect(faults).to.deep.equal([[lone], [lone]]);
    expect(await faultsOf(ask({ data: JSON.parse('{"n":1e400}') }))).to.have.length(1);
    expect(host.chain.size).to.equal(0);
  });

  it("does not take a hash with 0x, a short one, or a note of 201 characters", async () => {
    for (const input of [{ hash: `0x${HASH}` }, { hash: HASH.slice(1) }, { hash: HASH, note: "x".repeat(201) }])
      expect((await problemOf(ask(input))).code).to.equal("invalid-input");
  });

  it("says null for Solana when that side failed", async () => {
    const base = { tx: "0x1", explorer_url: "https://explorer.test/0x1" };
    const write = async () => ({ base, solana: null, anchored_at: 5 });
    ask = await serve("anchor", anchor, createHost({ anchor: { ready: async () => {}, write } }));
    expect(await ask({ hash: HASH })).to.deep.equal({
      merkle_root: HASH,
      base,
      solana: null,
      anchored_at: 5,
      note: null,
    });
  });

  it("fails as the Base chain fails", async () => {
    const write = async () => {
      throw new Problem("upstream-failed");
    };
    ask = await serve("anchor", anchor, createHost({ anchor: { ready: async () => {}, write } }));
    expect((await problemOf(ask({ hash: HASH }))).code).to.equal("upstream-failed");
  });
});
