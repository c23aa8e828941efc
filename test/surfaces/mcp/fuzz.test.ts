import { expect } from "chai";
import fc from "fast-check";
import { CODE_POINTS } from "../../support/code-points.ts";
import { encode } from "../../support/sellers/signed.ts";
import { VERSIONS } from "../support/endpoint-stage.ts";
import { type Loose, MODERN_META, openStall, type Stall } from "./served/support/stall.ts";

const RUNS = 10_000;

const METHODS = ["server/discover", "initialize", "ping", "tools/list", "tools/call", "notifications/initialized", "x"];
const NAMED = [...VERSIONS, "2099-01-01", "x"];
const PAYMENT = {
  x402Version: 2,
  accepted: { scheme: "exact", network: "eip155:8453", asset: "0x0", amount: "1", payTo: "0x0", maxTimeoutSeconds: 1 },
  payload: { signature: "0x00", authorization: { from: "0x0", to: "0x0", value: "1", nonce: "0x0" } },
};

/** A message that a client could mean, before something happens to it. */
const message = fc.record({
  jsonrpc: fc.constantFrom("2.0", "2.0", "2.0", "1.0"),
  id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.double()),
  method: fc.constantFrom(...METHODS),
  params: fc.record(
    {
      name: fc.constantFrom("roll", "seal", "nope", "__proto__"),
      arguments: fc.oneof(fc.constant({ low: 1, high: 6 }), fc.jsonValue()),
      protocolVersion: fc.constantFrom(...NAMED),
      cursor: fc.jsonValue(),
      _meta: fc.oneof(
        fc.constant(MODERN_META),
        fc.constant({ ...MODERN_META, "x402/payment": PAYMENT }),
        fc.record({ "x402/payment": fc.oneof(fc.constant(encode(PAYMENT)), fc.base64String(), fc.jsonValue()) }),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: [] },
  ),
});

/** Replaces, removes or adds something at a random place, as often as there are changes. */
const mutated = fc
  .tuple(
    message,
    fc.array(fc.tuple(fc.array(fc.nat(6), { maxLength: 4 }), fc.jsonValue(), fc.boolean()), { maxLength: 3 }),
  )
  .map(([whole, changes]) => {
    const copy: Loose = structuredClone(whole);
    for (const [path, value, removes] of changes) {
      let place: Loose = copy;
      for (const step of path.slice(0, -1)) {
        const next = Object.values(place)[step];
        if (typeof next === "object" && next !== null) place = next;
      }
      const key = Object.keys(place)[path.at(-1) ?? 0] ?? "more";
      if (removes) delete place[key];
      else place[key] = value;
    }
    return JSON.stringify(copy);
  });

/** Text that was cut, doubled or scribbled into. */
const torn = fc.tuple(mutated, fc.nat(200), fc.string({ maxLength: 5 })).map(([text, at, noise]) => {
  return text.slice(0, at) + noise + text.slice(at + noise.length);
});

const batch = fc.array(mutated, { maxLength: 22 }).map((texts) => `[${texts.join(",")}]`);

const value = fc.oneof(
  fc.constantFrom(...NAMED, ...METHODS, "roll", "=?base64?cm9sbA==?=", "=?base64?!?=", encode(PAYMENT), ""),
  fc.string({ unit: CODE_POINTS, maxLength: 20 }),
);
const headers = fc.record(
  {
    "mcp-protocol-version": value,
    "mcp-method": value,
    "mcp-name": value,
    "payment-signature": value,
    "x-payment": value,
    "content-type": fc.constantFrom("application/json", "application/json", "text/plain", ""),
    origin: fc.constantFrom("https://agent.example", "null", "nonsense"),
    host: fc.constantFrom("payphone.test", "evil.example"),
  },
  { requiredKeys: [] },
);

const PROTOCOL_ERRORS = [-32700, -32600, -32601, -32602, -32020, -32022, -41501];

describe("the MCP endpoint under fire", () => {
  let stall: Stall;
  before(async () => {
    stall = await openStall();
  });
  after(() => stall.close());

  it(`answers ${RUNS} fuzzed messages with the protocol's own errors, runs nothing and charges nobody`, async () => {
    const seen = new Set<number>();
    const anything = fc.oneof(
      { weight: 6, arbitrary: mutated },
      { weight: 2, arbitrary: torn },
      { weight: 1, arbitrary: batch },
      { weight: 1, arbitrary: fc.json() },
    );
    await fc.assert(
      fc.asyncProperty(anything, headers, async (text, sent) => {
        const { status, body, calls } = await stall.post(text, sent as Record<string, string>);
        expect(status).to.be.oneOf([200, 202, 400, 403, 404, 415]);
        if (status === 202) expect(body).to.equal(undefined);
        for (const answer of status === 202 ? [] : [body].flat()) {
          expect(answer.jsonrpc).to.equal("2.0");
          expect("result" in answer).to.equal(!("error" in answer));
          if (!answer.error) continue;
          expect(answer.error.code).to.be.oneOf(PROTOCOL_ERRORS);
          seen.add(answer.error.code);
        }
        for (const { problem } of calls) expect(problem?.code).not.to.equal("internal");
      }),
      { numRuns: RUNS },
    );
    expect([...seen], "every error was met").to.have.members(PROTOCOL_ERRORS);
    expect(stall.executions).to.equal(0);
    expect(stall.rails.base.asked).to.include({ verify: 0, settle: 0 });
  });
});
