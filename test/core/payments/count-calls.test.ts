import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { Invocation, Outcome } from "../../../runtime/core/call.ts";
import type { AnswerWay } from "../../../runtime/core/notes/answers.ts";
import { countCalls } from "../../../runtime/core/payments/count-calls.ts";
import type { Service } from "../../../runtime/core/service.ts";

const PAYER = `0x${"1".repeat(40)}`;

describe("the counts of a call whose buyer has gone", () => {
  it("have the answer that was ready", async () => {
    const { counted, answered } = await leave(async () => ({ kind: "result", output: {} }));
    expect(answered).to.deep.equal(["gone"]);
    expect(counted).to.deep.equal(["attempt", "result", "gone"]);
  });

  it("have no failure while nobody was charged", async () => {
    const { counted, refused } = await leave(async () => {
      throw new Problem("unavailable", "The caller is gone");
    });
    expect(counted).to.deep.equal(["attempt", "left"]);
    expect(refused).to.deep.equal([]);
  });

  for (const code of ["paid-not-delivered", "settlement-unknown"] as const)
    it(`have ${code} as what it is, since the money has moved, or may have`, async () => {
      const { counted, refused } = await leave(async () => {
        throw new Problem(code);
      });
      expect(counted).to.deep.equal(["attempt", `failed:${code}`]);
      expect(refused).to.deep.equal([`failed:${code}`]);
    });
});

/** Makes a call with a payment, whose caller leaves while it is settled. */
async function leave(end: () => Promise<Outcome>) {
  const counted: string[] = [];
  const refused: string[] = [];
  const answered: AnswerWay[] = [];
  const service = { manifest: { id: "roll", price: "0.001" } } as Service;
  const leaving = new AbortController();
  const settle = async (_: Service, { course }: Invocation): Promise<Outcome> => {
    Object.assign(course!, { sale: "sale_1", payer: PAYER });
    leaving.abort();
    return end();
  };
  const call = countCalls(settle, {
    tallies: { count: ({ what }) => counted.push(what), end: (_names, whats) => counted.push(...whats) },
    refusals: { note: (_payer, what) => refused.push(what) },
    answers: { note: (_sale, _begun, way) => answered.push(way) },
    inCall: (_note, work) => work(),
    clock: { now: () => 1 },
  });
  const read = async () => ({ value: {}, from: "body" as const });
  const invocation = { id: "1", input: read, payment: {}, resource: "", signal: leaving.signal };
  await call(service, invocation).catch(() => undefined);
  return { counted, refused, answered };
}
