import { expect } from "chai";
import { decodeText } from "../../../plugins/tldr/charset.ts";

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(" ", ""), "hex");
const page = (head: string, hex: string): Buffer =>
  Buffer.concat([Buffer.from(`<!doctype html><html><head>${head}</head><body>`, "latin1"), bytes(hex)]);

/** The same text in the bytes of its encoding. */
const SAMPLES: readonly [label: string, text: string, hex: string][] = [
  ["Shift_JIS", "日本語", "93fa 967b 8cea"],
  ["EUC-JP", "日本語", "c6fc cbdc b8ec"],
  ["GBK", "潮汐", "b3b1 cfab"],
  ["gb2312", "潮汐", "b3b1 cfab"],
  ["Big5", "潮汐", "bce9 a6c1"],
  ["EUC-KR", "조수", "c1b6 bcf6"],
  ["windows-1251", "прилив", "eff0 e8eb e8e2"],
  ["KOI8-R", "прилив", "d0d2 c9cc c9d7"],
  ["windows-1252", "“€5”", "93 80 35 94"],
  ["ISO-8859-1", "“€5”", "93 80 35 94"], // To browsers, Latin-1 is windows-1252.
  ["ISO-8859-15", "€", "a4"],
  ["utf-8", "潮汐 €", "e6bdae e6b190 20 e282ac"],
];

describe("the text of bytes", () => {
  for (const [label, text, hex] of SAMPLES) {
    it(`is read in ${label} when the server says so`, () => {
      expect(decodeText(bytes(hex), label.toLowerCase())).to.equal(text);
    });

    it(`is read in ${label} when the page says so`, () => {
      for (const head of [
        `<meta charset="${label}">`,
        `<META content='text/html; charset=${label}' http-equiv=Content-Type>`,
        `<title>A > B</title><meta name="a" content="b"><meta charset=${label} />`,
      ])
        expect(decodeText(page(head, hex)), head).to.match(new RegExp(`<body>${text}$`));
    });
  }

  const marks: readonly [name: string, hex: string][] = [
    ["UTF-8", "efbbbf c3a9"],
    ["UTF-16, the low byte first", "fffe e900"],
    ["UTF-16, the high byte first", "feff 00e9"],
  ];
  for (const [name, hex] of marks)
    it(`is read by its byte order mark as ${name}, whatever the server says`, () => {
      expect(decodeText(bytes(hex), "shift_jis")).to.equal("é");
    });

  it("is read as the server says, when the page says something else", () => {
    expect(decodeText(page(`<meta charset="utf-8">`, "93fa"), "shift_jis")).to.match(/日$/);
  });

  it("is read as XML declares it", () => {
    const xhtml = Buffer.concat([Buffer.from('<?xml version="1.0" encoding="windows-1251"?><p>'), bytes("efe8")]);
    expect(decodeText(xhtml)).to.match(/пи$/);
  });

  it("is ISO-2022-JP when nothing says otherwise, and its escapes are there", () => {
    expect(decodeText(bytes("1b2442 467c 4b5c 1b2842"))).to.equal("日本");
    expect(decodeText(Buffer.from("\u001b$B \u001b[1mbold"))).to.equal("\u001b$B \u001b[1mbold");
  });

  it("is not taken for ASCII in an encoding of seven bits that cannot be read", () => {
    for (const label of ["utf-7", "UTF7", "iso-2022-kr", "hz-gb-2312"]) {
      expect(decodeText(Buffer.from("+ZeVnLIqe-"), label), label).to.equal("\ufffd");
      expect(decodeText(page(`<meta charset="${label}">`, "2b5a")), label).to.equal("\ufffd");
    }
  });

  it("is UTF-8 when nothing says otherwise, or else what browsers guess", () => {
    expect(decodeText(bytes("e6bdae"))).to.equal("潮");
    expect(decodeText(bytes("41 93 e9"))).to.equal("A“é");
    expect(decodeText(bytes(""))).to.equal("");
  });

  it("is UTF-8 where it is called Latin-1, and is valid", () => {
    for (const label of ["iso-8859-1", "ISO8859-1", "windows-1252", "latin1", "us-ascii"]) {
      expect(decodeText(bytes("e6bdae c3a9"), label), label).to.equal("潮é");
      expect(decodeText(page(`<meta charset="${label}">`, "c3a9")), label).to.match(/é$/);
      expect(decodeText(bytes("e9 93"), label), label).to.equal("é“");
    }
  });

  it("is UTF-8 where a page that can be read as ASCII says that it is UTF-16", () => {
    expect(decodeText(page(`<meta charset="utf-16le">`, "c3a9"))).to.match(/é$/);
  });

  it("is guessed when it is said to be in an encoding that nobody knows", () => {
    for (const label of ["klingon", "replacement", "x-user-defined-2"])
      expect(decodeText(bytes("c3a9"), label), label).to.equal("é");
  });

  it("has a mark for every byte that its encoding does not have", () => {
    expect(decodeText(bytes("61 ff 62"), "utf-8")).to.equal("a\ufffdb");
  });

  it("is looked for no further than the first kilobyte of the page", () => {
    expect(decodeText(page(`${" ".repeat(1024)}<meta charset="shift_jis">`, "c3a9"))).to.match(/é$/);
  });
});
