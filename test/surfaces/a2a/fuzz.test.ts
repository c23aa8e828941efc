import { expect } from "chai";
import fc from "fast-check";
import { CODE_POINTS } from "../../support/code-points.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { BASE_URL, BOUNDLESS, type Door, openDoor } from "./served/support/door.ts";
import { createPeer, toPeerKeys } from "./served/support/peer.ts";

const RUNS = 10_000;
const peer = createPeer(BASE_URL);

const METHODS = [
  "message/send",
  "message/send",
  "message/send",
  "SendMessage",
  "SendMessage",
  "tasks/get",
  "GetTask",
  "tasks/cancel",
  "CancelTask",
  "message/stream",
  "SendStreamingMessage",
  "tasks/pushNotificationConfig/set",
  "GetExtendedAgentCard",
  "agent/getAuthenticatedExtendedCard",
  "x",
  "__proto__",
];
const PAYMENT = {
  x402Version: 2,
  accepted: { scheme: "exact", network: "eip155:8453", asset: "0x0", amount: "1", payTo: "0x0", maxTimeoutSeconds: 1 },
  payload: { signature: "0x00", authorization: { from: "0x0", to: "0x0", value: "1", nonce: "0x0" } },
};

const mostly = <A, B>(usual: fc.Arbitrary<A>, other: fc.Arbitrary<B>): fc.Arbitrary<A | B> =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: other });

const id = fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.double());
const part = fc.oneof(
  fc.record({
    kind: fc.constantFrom("data", "text"),
    data: fc.record({
      skill: fc.constantFrom("roll", "free", "seal", "nope"),
      input: fc.oneof(fc.constant({ low: 1, high: 6 }), fc.jsonValue()),
    }),
  }),
  fc.record({
    text: fc.oneof(fc.constantFrom("roll", 'free {"low":1,"high":6}', "free", '{"skill":"roll"}'), fc.string()),
  }),
  fc.record({ kind: fc.constant("file"), file: fc.jsonValue() }),
  fc.jsonValue(),
);
const message = fc.record(
  {
    kind: fc.constant("message"),
    messageId: fc.string(),
    role: fc.constantFrom("user", "ROLE_USER", "agent"),
    parts: fc.oneof(
      { weight: 5, arbitrary: fc.array(part, { maxLength: 3 }) },
      { weight: 1, arbitrary: fc.jsonValue() },
    ),
    taskId: mostly(fc.constantFrom("", "", "KNOWN"), fc.jsonValue()),
    contextId: mostly(fc.constantFrom("", "ours"), fc.jsonValue()),
    metadata: fc.oneof(
      fc.constant({ "x402.payment.status": "payment-submitted", "x402.payment.payload": PAYMENT }),
      fc.record({ "x402.payment.payload": fc.jsonValue() }),
      fc.record({ "x402.payment.status": fc.constantFrom("payment-rejected", "payment-submitted", "x") }),
      fc.jsonValue(),
    ),
  },
  { requiredKeys: ["parts"] },
);
/** What chance alone would seldom make: calls that succeed, that are to be paid, and whose input is refused. */
const calls = ['free {"low":1,"high":6}', 'roll {"low":1,"high":6}', 'free {"low":"one"}'].map((text) => ({
  message: { messageId: "m", role: "user", parts: [{ text }] },
}));
const standard = fc.record({
  jsonrpc: fc.constantFrom("2.0", "2.0", "2.0", "1.0"),
  id,
  method: fc.constantFrom(...METHODS),
  params: fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record(
        { message, configuration: fc.jsonValue(), id: fc.oneof(fc.constant("KNOWN"), fc.jsonValue()) },
        { requiredKeys: [] },
      ),
    },
    { weight: 1, arbitrary: fc.jsonValue() },
    { weight: 3, arbitrary: fc.constantFrom(...calls) },
  ),
});

/** A sealed envelope, with what it says replaced here and there. */
const signed = fc
  .tuple(
    fc.constantFrom("peer/hello", "capabilities/list", "peer/quote", "peer/receipt"),
    fc.oneof(fc.constant({ skill: "roll" }), fc.jsonValue()),
    fc.array(fc.tuple(fc.nat(8), fc.oneof(fc.jsonValue(), fc.double(), fc.string({ unit: CODE_POINTS }))), {
      maxLength: 2,
    }),
  )
  .map(([method, body, changes]) => {
    const whole: Loose = peer.seal(method as "peer/hello", { body: toSafe(body) });
    for (const [at, value] of changes) whole.params[Object.keys(whole.params)[at] ?? "more"] = value;
    return whole;
  });

/** Text that was cut, or scribbled into. */
const torn = fc
  .tuple(fc.oneof(standard, signed), fc.nat(300), fc.string({ unit: CODE_POINTS, maxLength: 5 }))
  .map(([whole, at, noise]) => {
    const text = JSON.stringify(whole);
    return text.slice(0, at) + noise + text.slice(at + noise.length);
  });

const headers = fc.record(
  {
    "content-type": fc.constantFrom("application/json", "application/json", "application/json", "text/plain"),
    "a2a-version": fc.oneof(fc.constantFrom("", "0.3", "1.0", "2.0"), fc.string()),
    "x-a2a-exchange": fc.oneof(fc.constant(`ax-${"0".repeat(24)}`), fc.string()),
    "a2a-extensions": fc.string(),
  },
  { requiredKeys: ["content-type"] },
);

const PROTOCOL_ERRORS = [
  -32700, -32600, -32601, -32602, -32001, -32002, -32003, -32004, -32005, -32007, -32009, -41501,
];

describe("the door between agents under fire", () => {
  let door: Door;
  let known: string;
  before(async () => {
    door = await openDoor({
      budgets: BOUNDLESS,
      peerKeys: toPeerKeys({ [peer.origin]: peer.card }),
    });
    known = (await door.call("message/send", { message: { messageId: "m", role: "user", parts: [{ text: "roll" }] } }))
      .result.id;
  });
  after(() => door.close());

  it(`answers ${RUNS} fuzzed messages with the protocol's own errors, and charges nobody`, async () => {
    const seen = new Set<number>();
    const states = new Set<string>();
    const anything = fc.oneof(
      { weight: 6, arbitrary: standard.map((whole) => JSON.stringify(whole)) },
      { weight: 2, arbitrary: signed.map((whole) => JSON.stringify(whole)) },
      { weight: 2, arbitrary: torn },
      { weight: 1, arbitrary: fc.json() },
    );
    await fc.assert(
      fc.asyncProperty(anything, headers, async (text, sent) => {
        const { status, body, calls } = await door.post(text.replaceAll("KNOWN", known), sent);
        expect(status).to.be.oneOf([200, 400, 415]);
        expect(body.jsonrpc).to.equal("2.0");
        expect(body).to.have.property("id");
        expect("result" in body).to.equal(!("error" in body));
        for (const { problem } of calls) expect(problem?.code).not.to.equal("internal");
        const state = (body.result?.task ?? body.result)?.status?.state;
        if (state) states.add(state.replace("TASK_STATE_", "").toLowerCase().replace("_", "-"));
        if (!body.error) return;
        expect(body.error.code, body.error.message).to.be.oneOf(PROTOCOL_ERRORS);
        seen.add(body.error.code);
      }),
      { numRuns: RUNS },
    );
    expect([...seen], "every error was met").to.have.members(PROTOCOL_ERRORS);
    expect([...states]).to.have.members(["completed", "input-required", "rejected", "canceled"]);
    expect(door.rails.base.asked).to.include({ verify: 0, settle: 0 });
  });
});

/** Without what a peer cannot sign, so that some of it gets through. */
function toSafe(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (_key, part) => (typeof part === "number" ? Math.trunc(part) % 2 ** 40 : part)),
  );
}
