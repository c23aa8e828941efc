import { expect } from "chai";
import fc from "fast-check";
import transaction from "../../../plugins/transaction/index.ts";
import { Problem, type RpcAnswer } from "../../../runtime/api/plugin.ts";
import { loadRecordings } from "../../../runtime/sandbox/recordings/recordings.ts";
import { createHost, readManifest, serve } from "../host.ts";

const CHAINS = ["base", "ethereum", "solana"];
const answers = new Map<string, unknown>(
  loadRecordings(
    `${import.meta.dirname}/../../..`,
    CHAINS.map((chain) => `plugins/transaction/recordings/${chain}/transactions.json`),
  ).flatMap(({ exchanges }) =>
    exchanges.flatMap(({ case: name, request: { rpc }, response: { result } }) =>
      name === "success" && rpc ? [[JSON.stringify([rpc.method, ...rpc.params]), result] as const] : [],
    ),
  ),
);

/** What a node should never say, at a place that a number chooses. */
interface Damage {
  readonly place: number;
  readonly value: unknown;
}

const damages = fc.array(
  fc.record({
    place: fc.nat(),
    value: fc.oneof(
      fc.constantFrom(null, undefined, true, -1, 0.5, 1e300, 2 ** 53, 0, "", "0x", "0xg", "__proto__", [], {}, [null]),
      fc.constantFrom(`0x${"f".repeat(64)}`, `0x${"f".repeat(65)}`, "1".repeat(44), "\ud800", "☃", { toString: 1 }),
      fc.constantFrom({ InstructionError: 7 }, { InstructionError: [0, { Custom: 6 }] }, { InstructionError: [] }),
      fc.jsonValue(),
      fc.integer({ min: 0, max: 60 }),
    ),
  }),
  { minLength: 1, maxLength: 3 },
);

describe("whatever a node says", () => {
  it("is a decoded transaction that fits the schema, or the node's failure, and never ours", async () => {
    const inputs = readManifest("decode_tx").examples.map(({ input }) => input);
    const outcomes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...inputs), fc.nat({ max: 2 }), damages, async (input, method, damage) => {
        let reads = 0;
        const rpc = async (...asked: readonly [string, readonly unknown[], unknown]): Promise<RpcAnswer> => {
          const result = structuredClone(answers.get(JSON.stringify([asked[0], ...asked[1]])) ?? null);
          const isDamaged = reads++ % 3 === method || (input as { chain: string }).chain === "solana";
          return { result: isDamaged ? (damage.reduce(hurt, { result }).result ?? null) : result };
        };
        const { upstream } = createHost();
        const host = createHost({ upstream: (id) => ({ ...upstream(id), rpc }) });
        const decode = await serve("decode_tx", transaction, host);
        const outcome = await decode(input).then(() => "decoded", codeOf);
        expect(outcome).to.be.oneOf(["decoded", "nothing-found", "upstream-failed"]);
        outcomes.add(outcome);
      }),
      { numRuns: 600 },
    );
    expect([...outcomes]).to.include.members(["decoded", "upstream-failed"]);
  });
});

const codeOf = (error: unknown): string => {
  if (error instanceof Problem) return error.code;
  throw error;
};

/** Puts the value at the place; undefined takes away what is there. */
function hurt(answer: { result: unknown }, { place, value }: Damage): { result: unknown } {
  const places = [...placesOf(answer)];
  const [holder, key] = (places[place % places.length] ?? [answer, "result"]) as [Record<string, unknown>, string];
  if (value === undefined) delete holder[key];
  else holder[key] = structuredClone(value);
  return answer;
}

function* placesOf(holder: object): Generator<readonly [object, string]> {
  for (const [key, value] of Object.entries(holder)) {
    yield [holder, key];
    if (typeof value === "object" && value !== null) yield* placesOf(value);
  }
}
