import { readFileSync } from "node:fs";
import { join } from "node:path";
import { base58 } from "@scure/base";
import { expect } from "chai";
import fc from "fast-check";
import { readAddress } from "../../../../plugins/wallet/address.ts";
import { FLAGS } from "../../../../plugins/wallet/screen/flags.ts";
import { toRisk } from "../../../../plugins/wallet/screen/risk.ts";

const severities = fc.array(fc.constantFrom("critical" as const, "high" as const, "medium" as const), {
  maxLength: 30,
});
const LETTERS = [..."01aAbcqxzZIOl: \n", "bitcoincash:", "0x", "\u{1f4b8}", "\u200b", "\ud800"];
const RANK = { allow: 0, review: 1, block: 2 };

describe("a verdict", () => {
  it("never becomes milder by one more signal, or by knowing less", () => {
    fc.assert(
      fc.property(severities, severities, fc.boolean(), (some, more, isUncertain) => {
        const [less, all] = [toRisk(some, isUncertain), toRisk([...some, ...more], isUncertain)];
        expect(all.risk_score).to.be.at.least(less.risk_score);
        expect(RANK[all.recommendation]).to.be.at.least(RANK[less.recommendation]);
        expect(toRisk(some, true).risk_score).to.be.at.least(toRisk(some, false).risk_score);
      }),
    );
  });

  it("is `block` for every high or critical signal and for nothing else, and `allow` only for none at all", () => {
    fc.assert(
      fc.property(severities, fc.boolean(), (some, isUncertain) => {
        const { recommendation } = toRisk(some, isUncertain);
        expect(recommendation === "block").to.equal(some.some((severity) => severity !== "medium"));
        expect(recommendation === "allow").to.equal(some.length === 0 && !isUncertain);
      }),
    );
  });

  it("has a whole score of 0 to 100 that its level goes by, and 100 for sanctions alone", () => {
    fc.assert(
      fc.property(severities, fc.boolean(), (some, isUncertain) => {
        const { risk_score: score, risk_level } = toRisk(some, isUncertain);
        expect(Number.isInteger(score) && score >= 0).to.equal(true);
        expect(score === 100).to.equal(some.includes("critical"));
        expect(risk_level).to.equal(score === 100 ? "critical" : score >= 70 ? "high" : score >= 30 ? "medium" : "low");
      }),
    );
  });

  it("does not depend on the order of the signals", () => {
    fc.assert(
      fc.property(severities, (some) => {
        expect(toRisk(some.toReversed(), false)).to.deep.equal(toRisk(some, false));
      }),
    );
  });
});

describe("the README of the screening", () => {
  const readme = readFileSync(join(import.meta.dirname, "../../../../plugins/wallet/README.md"), "utf8");

  for (const severity of ["high", "medium"] as const)
    it(`names exactly GoPlus' flags of ${severity} severity`, () => {
      const rows = readme.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
      const [, names = ""] = rows.find(([, , source, level]) => source === "`goplus`" && level === severity) ?? [];
      const named = [...names.matchAll(/\w+/g)].map(([flag]) => flag);
      const flags = Object.entries(FLAGS).filter(([, meaning]) => meaning.severity === severity);
      expect(named).to.deep.equal(flags.map(([flag]) => flag));
    });
});

describe("an address", () => {
  const EVM = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";

  it("is an EVM one with 40 hex characters in any case, with or without 0x, and always found under the same key", () => {
    for (const text of [EVM, EVM.toLowerCase(), EVM.toUpperCase(), ` ${EVM}\n`, EVM.slice(2)])
      expect(readAddress(text)).to.deep.equal({ chain: "ethereum", key: EVM.toLowerCase() });
    for (const text of [`${EVM}0`, EVM.slice(0, -1), EVM.replace("d", "g")])
      expect(readAddress(text).chain, text).to.equal("unknown");
  });

  it("is a Solana one when it is base58 of exactly 32 bytes, and keeps its case", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 40 }), (bytes) => {
        const text = base58.encode(bytes);
        const isSolana = bytes.length === 32;
        expect(readAddress(text).chain).to.equal(isSolana ? "solana" : "unknown");
        if (isSolana) expect(readAddress(text).key).to.equal(text);
      }),
      { numRuns: 500, examples: [[new Uint8Array(32)]] },
    );
  });

  it("can be in CAIP-10 form, which names the chain", () => {
    const key = EVM.toLowerCase();
    expect(readAddress(`eip155:8453:${EVM}`)).to.deep.equal({ chain: "ethereum", key, chainId: "8453" });
    expect(readAddress(`eip155:1:${EVM.slice(2)}`)).to.deep.equal({ chain: "ethereum", key, chainId: "1" });
    const solana = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
    expect(readAddress(`solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:${solana}`)).to.deep.equal({
      chain: "solana",
      key: solana,
    });
    const bitcoin = "bc1q05aktddf9ce4p7hh3stgsf253m4vweu7nkhtmw";
    expect(readAddress(`bip122:000000000019d6689c085ae165831e93:${bitcoin}`).key).to.equal(bitcoin);
  });

  it("of another chain has a key of its own: base58 as it is, bech32 and cashaddr whatever their case", () => {
    const written: readonly [text: string, key: string][] = [
      ["TNiq9AXBp9EjUqhDhrwrfvAA8U3GUQZH81", "TNiq9AXBp9EjUqhDhrwrfvAA8U3GUQZH81"],
      ["rnXyVQzgxZe7TR1EPzTkGj2jxH4LMJYh66", "rnXyVQzgxZe7TR1EPzTkGj2jxH4LMJYh66"],
      ["16iWn2J1McqjToYLHSsAyS6En3QA8YQ91H", "16iWn2J1McqjToYLHSsAyS6En3QA8YQ91H"],
      ["BC1Q05AKTDDF9CE4P7HH3STGSF253M4VWEU7NKHTMW", "bc1q05aktddf9ce4p7hh3stgsf253m4vweu7nkhtmw"],
      ["LTC1Q73KA9ZJ5N8VWLMCT37UWU8KPCKJ7GP7F46U8MC", "ltc1q73ka9zj5n8vwlmct37uwu8kpckj7gp7f46u8mc"], // 32 bytes in base58.
      ["thor1aq8mvkk8qwztmzatqdvdvzmuh6tdukedjy727c", "thor1aq8mvkk8qwztmzatqdvdvzmuh6tdukedjy727c"], // As well.
      ["bitcoincash:qpf2cphc5dkuclkqur7lhj2yuqq9pk3hmukle77vhq", "qpf2cphc5dkuclkqur7lhj2yuqq9pk3hmukle77vhq"],
      ["QPF2CPHC5DKUCLKQUR7LHJ2YUQQ9PK3HMUKLE77VHQ", "qpf2cphc5dkuclkqur7lhj2yuqq9pk3hmukle77vhq"],
    ];
    for (const [text, key] of written) expect(readAddress(text)).to.deep.equal({ chain: "unknown", key });
  });

  it("may be any text at all", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 128 }), (text) => {
        expect(["ethereum", "solana", "unknown"]).to.include(readAddress(text).chain);
      }),
    );
  });

  it("is read at once, also out of a body full of quotes, which its rules see before a payment is looked at", () => {
    const began = performance.now();
    for (const quote of ["'", "]", "."]) expect(readAddress(`a${quote.repeat(150_000)}a`).chain).to.equal("unknown");
    expect(performance.now() - began).to.be.below(10_000); // It took minutes.
    for (const text of [`('${EVM}')`, `"${EVM}",`, `<<${EVM}>>;`]) expect(readAddress(text).chain).to.equal("ethereum");
  });
});
