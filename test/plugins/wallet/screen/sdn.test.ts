import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import fc from "fast-check";
import { toCorpus } from "../../../../plugins/wallet/screen/corpus.ts";
import { readSdn, type SdnList } from "../../../../plugins/wallet/screen/sdn.ts";
import { streamSdnDocument, toNumberedAddress, toSdnDocument } from "./sdn-document.ts";

const RECORDED = readFileSync(join(import.meta.dirname, "../../../../plugins/wallet/recordings/ofac/sdn.xml"));

async function* inPieces(document: string | Uint8Array, size = 1 << 16): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(document);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const read = (document: string | Uint8Array, size?: number): Promise<SdnList> => readSdn(inPieces(document, size));

/** Whether the document was refused. */
const isRefused = (document: string | Uint8Array): Promise<boolean> =>
  read(document).then(
    () => false,
    (error) => error instanceof Error,
  );

describe("OFAC's SDN.XML", () => {
  it("is read down to the entries that have digital currency addresses", async () => {
    const { published, entries } = await read(RECORDED);
    expect(published).to.equal("2026-09-10");
    expect(entries.map(({ uid, name, programs }) => [uid, name, programs])).to.deep.equal([
      ["4632", "BANK MARKAZI JOMHOURI ISLAMI IRAN", ["IRAN", "SDGT"]],
      ["27307", "LAZARUS GROUP", ["DPRK3"]],
    ]);
    expect(entries.map(({ addresses }) => addresses.length)).to.deep.equal([2, 8]);
    expect(entries[0]?.addresses[0]).to.deep.equal({ ticker: "TRX", address: "TNiq9AXBp9EjUqhDhrwrfvAA8U3GUQZH81" });
  });

  it("gives an address the name, the programs and the ticker of its own entry, not of a neighbour or an alias", async () => {
    const document = toSdnDocument("01/02/2026", [
      { uid: 1, lastName: "NOBODY&apos;S BANK", programs: ["CUBA"] },
      {
        uid: 2,
        firstName: "Ana",
        lastName: "P&#xC9;REZ",
        addresses: [
          ["XBT", "1Ana"],
          ["USDT", "TAna"],
        ],
      },
      { uid: 3, lastName: "A &amp; B", programs: ["IRAN"], addresses: [["ETH", "0xab"]] },
    ]);
    expect((await read(document)).entries).to.deep.equal([
      {
        uid: "2",
        name: "Ana PÉREZ",
        programs: ["CYBER2"],
        addresses: [
          { ticker: "XBT", address: "1Ana" },
          { ticker: "USDT", address: "TAna" },
        ],
      },
      { uid: "3", name: "A & B", programs: ["IRAN"], addresses: [{ ticker: "ETH", address: "0xab" }] },
    ]);
  });

  it("never pairs an id's type with another id's number", async () => {
    const id = (inner: string): string => `<id><uid>1</uid>${inner}</id>`;
    const currency = "<idType>Digital Currency Address - ETH</idType>";
    const ids = [id(currency), id("<idType>Passport</idType><idNumber>AB1</idNumber>"), id("<idNumber>AB2</idNumber>")];
    const last = id(`${currency}<idNumber><![CDATA[0xcd]]></idNumber>`);
    const entry = `<sdnEntry><uid>9</uid><lastName>X</lastName><idList>${ids.join("")}${last}</idList></sdnEntry>`;
    const { entries } = await read(toSdnDocument("01/02/2026", []).replace("\n</sdnList>", `${entry}</sdnList>`));
    expect(entries[0]?.addresses).to.deep.equal([{ ticker: "ETH", address: "0xcd" }]);
  });

  it("gives the same list however it is cut into pieces", async () => {
    const whole = await read(RECORDED);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 300 }), async (size) => {
        expect(await read(RECORDED, size)).to.deep.equal(whole);
      }),
      { numRuns: 40, examples: [[1]] },
    );
  });

  it("is refused when it is cut short, at whatever byte", async () => {
    const end = RECORDED.lastIndexOf(">");
    for (let length = 0; length <= end; length += 1)
      expect(await isRefused(RECORDED.subarray(0, length)), `${length} bytes`).to.equal(true);
    expect(await isRefused(RECORDED.subarray(0, end + 1))).to.equal(false);
  });

  it("is refused when it is another document, or not well-formed, or not UTF-8", async () => {
    const document = toSdnDocument("01/02/2026", [{ uid: 1, lastName: "X", addresses: [["ETH", "0xab"]] }]);
    expect(await isRefused(document)).to.equal(false);
    for (const other of [
      "",
      "<sdnList/>",
      "<html><body>Scheduled maintenance</body></html>",
      document.replace("01/02/2026", "2 January 2026"),
      document.replace("</idList>", ""),
      document.replace("<lastName>X", "<lastName>&nobody;"),
      `${document}<sdnList/>`,
      Buffer.from(document.replace("X", "\u00e9"), "latin1"),
    ])
      expect(await isRefused(other), String(other).slice(-60)).to.equal(true);
  });

  it("is read in flat memory when it has 25 MB", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const heap = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = heap();
    let [bytes, pieces, peak] = [0, 0, 0];
    async function* measured(): AsyncGenerator<Uint8Array> {
      for await (const piece of streamSdnDocument(25_000)) {
        bytes += piece.length;
        pieces += 1;
        if (pieces % 40 === 0) peak = Math.max(peak, heap() - before);
        yield piece;
      }
    }
    const { entries } = await readSdn(measured());
    expect(bytes).to.be.above(25_000_000);
    expect(entries.map(({ addresses }) => addresses[0]?.address)).to.deep.equal(
      Array.from({ length: 1250 }, (_, at) => toNumberedAddress((at + 1) * 20)),
    );
    expect(peak, "bytes of heap at most, beyond those before").to.be.below(5_000_000);
  });
});

describe("a corpus's version", () => {
  const list = (addresses: readonly (readonly [string, string])[]): Promise<SdnList> =>
    read(toSdnDocument("01/02/2026", [{ uid: 1, lastName: "X", addresses }]));
  const [ONE, TWO] = [toNumberedAddress(1), toNumberedAddress(2)];

  it("has the day of publication and a digest that no order and no spelling changes", async () => {
    const { version } = toCorpus(
      await list([
        ["ETH", ONE],
        ["ETH", TWO],
      ]),
      "ofac-sdn",
    );
    expect(version).to.match(/^ofac-sdn-2026-01-02-[0-9a-f]{12}$/);
    const reordered = await list([
      ["ETH", TWO.toUpperCase().replace("0X", "0x")],
      ["ETH", ONE],
    ]);
    expect(toCorpus(reordered, "ofac-sdn").version).to.equal(version);
    expect(toCorpus(await list([["ETH", ONE]]), "ofac-sdn").version).not.to.equal(version);
  });
});
