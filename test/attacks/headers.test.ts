import { expect } from "chai";
import fc from "fast-check";
import type { Log } from "../../runtime/api/plugin.ts";
import { openSqliteStore } from "../../runtime/drivers/store/sqlite/sqlite.ts";
import { createScriptedRail } from "../support/chains/scripted-rail.ts";
import { createFolder } from "../support/folder.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";
import { encode } from "../support/sellers/signed.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";

/** More of them in `npm run test:crash`. */
const TIMES = process.env.CRASH_ROUNDS === undefined ? 3000 : 10_000;
const AT_ONCE = 40;

/** Texts in which some bytes are others, are missing or are there twice. */
const mutatedText = (text: string): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(fc.nat(text.length - 1), fc.string({ unit: "grapheme-ascii", maxLength: 3 }), fc.nat(4)), {
      minLength: 1,
      maxLength: 4,
    })
    .map((edits) => edits.reduce((raw, [at, put, cut]) => raw.slice(0, at) + put + raw.slice(at + cut), text));

/** What no honest client writes where a text or a number belongs. */
const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  "",
  " ",
  "0",
  "-1",
  "1e3",
  "0x",
  "__proto__",
  "x".repeat(2000),
  "\ud800",
  "é\u0000",
  [],
  [[]],
  {},
  { toString: 1 },
  "9".repeat(78),
  `0x${"f".repeat(40)}`,
  `0x${"F".repeat(64)}`,
  "solana",
  "eip155:8453",
];

/** The same object with something odd in one of its places, however deep. */
const mutatedObject = (object: object): fc.Arbitrary<object> =>
  fc.tuple(fc.nat(), fc.nat(ODD.length - 1)).map(([at, odd]) => {
    const copy = structuredClone(object);
    const places = placesIn(copy);
    const [holder, name] = places[at % places.length]!;
    holder[name] = ODD[odd];
    return copy;
  });

type Place = readonly [holder: Record<string, unknown>, name: string];
const placesIn = (value: object): Place[] =>
  Object.entries(value).flatMap(([name, inner]) => [
    [value as Record<string, unknown>, name] as const,
    ...(typeof inner === "object" && inner !== null ? placesIn(inner as object) : []),
  ]);

describe("a flood of mutated and duplicated payments", () => {
  const data = createFolder();
  const log = { lines: 0 };
  const count = (): void => {
    log.lines += 1;
  };
  const counting: Log = { info: count, warn: count, error: count };
  const clock = { now: () => 1_900_000_000_000, advance: () => {} };
  const rail = createScriptedRail();
  let sqlite: Awaited<ReturnType<typeof openSqliteStore>>;
  let shop: Shop;
  before(async () => {
    sqlite = await openSqliteStore({ file: `${data}/payphone.sqlite`, now: clock.now });
    const store = { ...sqlite, entries: createMemoryStore().entries };
    shop = await openShop({ rail, clock, log: counting, store });
  });
  after(async () => {
    await shop.close();
    await sqlite.close();
  });

  it(`of ${TIMES} executes nothing, breaks nothing, and writes a bounded log`, async () => {
    const payment = await shop.pay("/v1/roll");
    const sample = JSON.parse(Buffer.from(payment, "base64").toString()) as { payload: object };
    const { payload } = sample;
    const v1 = { x402Version: 1, scheme: "exact", network: "base", payload };
    // An honest facilitator: every other authorization has a bad signature.
    rail.script.verify = ({ payload: shown }) =>
      JSON.stringify(shown) === JSON.stringify(payload)
        ? { isValid: true }
        : { isValid: false, invalidReason: "invalid_exact_evm_payload_signature" };
    expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
    const header = (name: string, values: fc.Arbitrary<string>): fc.Arbitrary<Record<string, string>> =>
      values.map((value) => ({ [name]: value }));
    const twice = { "payment-signature": `${payment}, ${payment}` };
    const headers = fc.sample(
      fc.oneof(
        header("payment-signature", mutatedText(payment)),
        header(
          "payment-signature",
          mutatedText(JSON.stringify(sample)).map((text) => Buffer.from(text).toString("base64")),
        ),
        header("payment-signature", mutatedObject(sample).map(encode)),
        header("x-payment", mutatedObject(v1).map(encode)),
        fc.constantFrom<Record<string, string>>(
          twice,
          { ...twice, "x-payment": encode(v1) },
          { "x-payment": encode(v1) },
        ),
      ),
      { numRuns: TIMES, seed: 20_261_121 },
    );
    const statuses = new Map<number, number>();
    const send = async (): Promise<void> => {
      for (let own = headers.pop(); own; own = headers.pop()) {
        const response = await shop.post("/v1/roll", ROLL, own).catch((error: unknown) => error as Error);
        if (response instanceof Error)
          expect(response, "a header that fetch does not send").to.be.instanceOf(TypeError);
        else await response.arrayBuffer();
        const status = response instanceof Error ? 0 : response.status;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, send));
    expect([...statuses.keys()]).to.have.members([200, 402, 409]);
    expect(statuses.get(402)).to.be.greaterThan(TIMES / 2);
    expect(shop.executions).to.equal(1);
    expect(rail.moved.size).to.equal(1);
    expect(log.lines).to.be.below(1100);
  });
});
