import fc from "fast-check";

/** The code points of a range, each as a text. */
const between = (min: number, max: number): fc.Arbitrary<string> =>
  fc.integer({ min, max }).map((point) => String.fromCodePoint(point));

/**
 * A unit of `fc.string`: any code point that may stand in UTF-8, those of ASCII as often as all others. It is fast-check's
 * "binary", which takes a second of each process to prepare.
 */
export const CODE_POINTS: fc.Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: between(0, 0x7f) },
  { weight: 1, arbitrary: between(0x80, 0xd7ff) },
  { weight: 1, arbitrary: between(0xe000, 0x10_ffff) },
);
