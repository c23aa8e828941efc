import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { expect } from "chai";
import fc from "fast-check";
import { recoverMessageAddress } from "viem";
import { drawBetween } from "../../plugins/roll/draw.ts";
import roll from "../../plugins/roll/index.ts";
import type { Hex } from "../../runtime/api/plugin.ts";
import { createHost, faultsOf, problemOf, readManifest, type Serve, serve, TREASURY } from "./host.ts";

const sha256 = (value: unknown): string =>
  createHash("sha256")
    .update(canonicalize(value) as string)
    .digest("hex");
const MAX = Number.MAX_SAFE_INTEGER;

/** 64-bit draws from a list: a test decides what chance says. */
const drawsOf = (...draws: readonly bigint[]): (() => bigint) => {
  const left = [...draws];
  return () => left.shift() ?? expect.fail("drew more than it should");
};

describe("a draw", () => {
  it("takes each value of a span from equally many draws", () => {
    const counts = new Map<number, number>();
    for (let draw = 0n; draw < 700n; draw++) {
      const value = drawBetween(-3, 3, drawsOf(draw));
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    expect([...counts].sort(([a], [b]) => a - b)).to.deep.equal([-3, -2, -1, 0, 1, 2, 3].map((value) => [value, 100]));
  });

  it("throws away what lies beyond the last whole multiple of the span", () => {
    // 2^64 = 1 mod 3: exactly the highest draw would be one too many.
    expect(drawBetween(0, 2, drawsOf(2n ** 64n - 1n, 1n))).to.equal(1);
    expect(drawBetween(0, 2, drawsOf(2n ** 64n - 2n))).to.equal(2);
  });

  it("throws nothing away when the span divides 2^64", () => {
    expect(drawBetween(0, 255, drawsOf(2n ** 64n - 1n))).to.equal(255);
  });

  it("reaches both ends of the whole safe-integer range", () => {
    const span = 2n ** 54n - 1n;
    expect(drawBetween(-MAX, MAX, drawsOf(0n))).to.equal(-MAX);
    expect(drawBetween(-MAX, MAX, drawsOf(span - 1n))).to.equal(MAX);
    expect(drawBetween(-MAX, MAX, drawsOf(span))).to.equal(-MAX);
  });

  it("stays within its bounds, whatever they are and whatever is drawn", () => {
    const integers = fc.maxSafeInteger();
    fc.assert(
      fc.property(integers, integers, fc.bigInt({ min: 0n, max: 2n ** 63n }), (a, b, draw) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        const value = drawBetween(low, high, drawsOf(draw));
        expect(Number.isSafeInteger(value) && value >= low && value <= high).to.equal(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a roll", () => {
  let ask: Serve;
  before(async () => {
    ask = await serve("roll", roll, createHost());
  });

  it("is signed by the treasury over the documented payload, and its hashes can be recomputed", async () => {
    const commitment = `0x${"Ab".repeat(32)}`;
    const label = "Schatz №42";
    const answer = await ask({ low: -5, high: 5, count: 3, commitment, label });
    expect(answer).to.deep.include({ range: [-5, 5], count: 3, commitment, label, scheme: "eip191" });
    expect(answer).to.include({ signer: TREASURY.address, domain: "payphone/roll/v1" });
    const message = await verify(answer);
    expect(message).to.contain(commitment).and.to.contain(label);
  });

  it("says null for a commitment and a label that were not given, and hashes them as null", async () => {
    const asked = { range: [1, 6], count: 1, commitment: null, label: null };
    const answers = await Promise.all([
      ask({ low: 1, high: 6 }),
      ask({ low: 1, high: 6, commitment: null, label: null }),
    ]);
    for (const answer of answers) {
      expect(answer).to.include({ commitment: null, label: null, count: 1, input_hash: sha256(asked) });
    }
  });

  it("echoes a commitment without 0x as it was sent", async () => {
    const commitment = "0f".repeat(32);
    expect(await ask({ low: 1, high: 6, commitment })).to.include({ commitment });
  });

  it("holds `count` integers within the bounds", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.maxSafeInteger(),
        fc.maxSafeInteger(),
        fc.integer({ min: 1, max: 100 }),
        async (a, b, count) => {
          const [low, high] = [Math.min(a, b), Math.max(a, b)];
          const result = (await ask({ low, high, count })).result as number[];
          expect(result).to.have.length(count);
          expect(result.every((value) => Number.isSafeInteger(value) && value >= low && value <= high)).to.equal(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("is uniform: chi-square of 20 000 dice stays under a bound that chance breaks once in 10^10 runs", async () => {
    const counts = new Array<number>(6).fill(0);
    for (let round = 0; round < 200; round++)
      for (const face of (await ask({ low: 1, high: 6, count: 100 })).result as number[]) counts[face - 1]! += 1;
    const expected = 20_000 / 6;
    const chiSquare = counts.reduce((sum, seen) => sum + (seen - expected) ** 2 / expected, 0);
    expect(chiSquare).to.be.below(56); // 5 degrees of freedom: p < 1e-10
  });

  it("draws the one value of a range of one", async () => {
    expect((await ask({ low: 7, high: 7, count: 2 })).result).to.deep.equal([7, 7]);
  });

  it("refuses bounds in the wrong order and a broken label, both at once", async () => {
    expect(await faultsOf(ask({ low: 2, high: 1, label: "\ud800" }))).to.deep.equal([
      "body.high: Value error, high must be greater than or equal to low",
      "body.label: Value error, label must be well-formed Unicode: it holds a lone surrogate",
    ]);
  });

  const faulty: Record<string, object> = {
    "no bounds": {},
    "a fraction": { low: 0.5, high: 2 },
    "a bound beyond the safe integers": { low: 0, high: MAX + 1 },
    "no count": { low: 1, high: 2, count: 0 },
    "a count of 101": { low: 1, high: 2, count: 101 },
    "a commitment of 31 bytes": { low: 1, high: 2, commitment: "ab".repeat(31) },
    "a commitment with 0X": { low: 1, high: 2, commitment: `0X${"ab".repeat(32)}` },
    "a label of 201 characters": { low: 1, high: 2, label: "x".repeat(201) },
  };
  for (const [name, input] of Object.entries(faulty))
    it(`does not take ${name}`, async () => {
      expect((await problemOf(ask(input))).code).to.equal("invalid-input");
    });

  it("answers its manifest's examples, whose own answer can be verified", async () => {
    const { examples } = readManifest("roll");
    for (const { input } of examples) expect(await ask(input)).to.have.property("signature");
    const shown = examples.map(({ output }) => output).filter((output) => output !== undefined);
    expect(shown).to.have.length(1);
    for (const output of shown) await verify(output as Record<string, unknown>);
  });
});

/** Recomputes what schemas/RollResponse.json says of an answer; returns the signed text. */
async function verify(answer: Record<string, unknown>): Promise<string> {
  const { range, count, commitment, label, result, input_hash, result_hash, domain, signature } = answer;
  expect(input_hash).to.equal(sha256({ range, count, commitment, label }));
  expect(result_hash).to.equal(sha256({ input_hash, result }));
  const payload = { domain, range, count, commitment, label, result, input_hash, result_hash };
  const message = canonicalize(payload) as string;
  expect(await recoverMessageAddress({ message, signature: signature as Hex })).to.equal(answer.signer);
  return message;
}
