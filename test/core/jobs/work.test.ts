import { once } from "node:events";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { move } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openStage, type Stage } from "./stage.ts";

describe("the work of a job", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(() => stage.close());

  const passing = (): Problem => new Problem("upstream-failed", "The source answered 503");

  it("is given by a step what the next attempt would be given: JSON", async () => {
    const seen: unknown[] = [];
    stage.work = async ({ what }, { step }) => {
      seen.push(await step("one", async () => ({ at: new Date(0), none: undefined })));
      if (seen.length === 1) throw passing();
      return { found: what };
    };
    await stage.ended(await stage.buy("x"));
    const json = { at: "1970-01-01T00:00:00.000Z" };
    expect(seen).to.deep.equal([json, json]);
  });

  it("is tried again when what it met may pass, and does no step twice", async () => {
    const steps: string[] = [];
    stage.work = async ({ what }, call) => {
      const one = await call.step("one", async () => ({ token: steps.push("one") }));
      const two = await call.step("two", async () => {
        steps.push("two");
        if (steps.length < 4) throw passing();
        return undefined;
      });
      return { found: `${what} ${one.token} ${two}` };
    };
    const told = await stage.ended(await stage.buy("x"));
    expect(told.deliverable).to.deep.equal({ found: "x 1 undefined" });
    expect([steps, stage.attempts]).to.deep.equal([
      ["one", "two", "two", "two"],
      ["x", "x", "x"],
    ]);
    expect(stage.refunds).to.deep.equal([]);
  });

  it("has a step by its name's text, whatever was given as its name", async () => {
    stage.work = async ({ what }, { step }) => {
      const name = what === "half" ? "\ud83d" : 1;
      const one = await step(name as string, async () => "a");
      if (what === "half") return { found: one };
      return { found: `${one} ${await step("1", async () => "b")}` };
    };
    expect(await stage.ended(await stage.buy("half"))).to.include({ status: "DELIVERED" });
    expect(await stage.ended(await stage.buy("twice"))).to.include({ status: "FAILED" });
  });

  it("may try a step again that has failed", async () => {
    let tries = 0;
    stage.work = async (_input, { step }) => {
      const attempt = () =>
        step("one", async () => {
          if (++tries === 1) throw passing();
          return "a";
        });
      return { found: await attempt().catch(attempt) };
    };
    expect((await stage.ended(await stage.buy("x"))).deliverable).to.deep.equal({ found: "a" });
    expect([tries, stage.attempts]).to.deep.equal([2, ["x"]]);
  });

  it("has failed after as many attempts as were said, and its price is paid back once", async () => {
    stage.work = () => {
      throw passing();
    };
    const id = await stage.buy("x");
    expect(await stage.ended(id)).to.include({ status: "FAILED", error: "The source answered 503", deliverable: null });
    await stage.outOfLine();
    expect(stage.attempts).to.have.length(3);
    expect(stage.refunds.map((refund) => refund.id)).to.deep.equal([id]);
    expect(stage.refunds[0]?.service).to.equal("search");
  });

  it("has failed at once when another attempt would meet the same", async () => {
    stage.work = () => {
      throw new Problem("unparseable-input", "There is no such address");
    };
    expect(await stage.ended(await stage.buy("x"))).to.include({ status: "FAILED", error: "There is no such address" });
    expect(stage.attempts).to.have.length(1);
  });

  it("is not paid back where its manifest says so", async () => {
    await stage.restart({ job: { refund: false } });
    stage.work = () => {
      throw new Problem("unparseable-input", "There is no such address");
    };
    await stage.ended(await stage.buy("x"));
    await stage.outOfLine();
    expect(stage.refunds).to.deep.equal([]);
  });

  it("tells nothing of what a handler threw by accident", async () => {
    stage.work = () => {
      throw new Error("secret at https://node.example/key");
    };
    const { error } = await stage.ended(await stage.buy("x"));
    expect(error).to.equal("Something went wrong on our side");
  });

  it("ends, too, when what its handler throws cannot be read", async () => {
    stage.work = () => {
      throw new Proxy(new Error(), { getPrototypeOf: () => null, get: () => expect.fail("a trap") });
    };
    const { status, error } = await stage.ended(await stage.buy("x"));
    expect([status, error, stage.attempts.length]).to.deep.equal(["FAILED", "Something went wrong on our side", 3]);
    stage.work = () => {
      throw new Proxy({}, { getPrototypeOf: () => expect.fail("a trap") });
    };
    expect(await stage.ended(await stage.buy("y"))).to.include({ status: "FAILED" });
  });

  it("delivers nothing that breaks its schema", async () => {
    stage.work = () => ({ found: 5 });
    expect(await stage.ended(await stage.buy("x"))).to.include({ status: "FAILED", deliverable: null });
    expect(stage.attempts).to.have.length(3);
  });

  describe("that takes too long", () => {
    beforeEach(() => stage.restart({ job: { deadline_seconds: 0.2, attempts: 2 } }));

    it("is told to end at its deadline, has another attempt, and fails", async () => {
      const ended: boolean[] = [];
      stage.work = (_input, { signal }) =>
        new Promise(() => signal.addEventListener("abort", () => ended.push(signal.aborted)));
      const told = await stage.ended(await stage.buy("x"));
      expect(told).to.include({ status: "FAILED", error: "The service did not answer within 0.2 seconds" });
      expect(ended).to.deep.equal([true, true]);
      expect(stage.refunds).to.have.length(1);
    });

    it("begins no step after its deadline", async () => {
      const late = Promise.withResolvers<unknown>();
      let steps = 0;
      stage.work = async (_input, { signal, step }) => {
        await once(signal, "abort");
        const step2 = step("late", async () => {
          steps += 1;
        });
        step2.catch(late.resolve);
        return step2;
      };
      await stage.ended(await stage.buy("x"));
      expect(await late.promise).to.be.instanceOf(Problem);
      expect(steps).to.equal(0);
    });
  });

  it("knows in its next attempt what a step did that was begun before its deadline", async () => {
    await stage.restart({ job: { deadline_seconds: 0.5, attempts: 20 } });
    let anchors = 0;
    stage.work = async ({ what }, { step, signal }) => {
      await step("anchor", async () => {
        anchors += 1;
        await once(signal, "abort");
      });
      return { found: what };
    };
    expect(await stage.ended(await stage.buy("x"))).to.include({ status: "DELIVERED" });
    expect(anchors).to.equal(1);
    expect(stage.attempts.length).to.be.above(1);
  });

  describe("on a store that fails", () => {
    beforeEach(() => stage.restart({ job: { attempts: 1 } }));

    for (const [method, prefix] of [
      ["incr", "job-turns:"],
      ["set", "job-progress:"],
      ["get", "job-step:"],
      ["putIfAbsent", "job-step:"],
      ["putIfAbsent", "job-end:"],
    ] as const)
      it(`is not held to have failed (${method} ${prefix})`, async () => {
        stage.work = async ({ what }, { step }) => {
          // A handler may take any failure for its own.
          await step("one", async () => 1).catch((error: unknown) => {
            throw new Error("step failed", { cause: error });
          });
          return { found: what };
        };
        stage.rail.script.settle = (payment, offer) => {
          stage.fail(method, prefix);
          return move(stage.rail, payment, offer);
        };
        const id = await stage.buy("x");
        await eventually(async () => (await stage.status(id)).status === "DELIVERED");
        expect(stage.refunds).to.deep.equal([]);
      });

    it("is paid back when the refund could not be put on record at first", async () => {
      stage.work = () => {
        throw passing();
      };
      stage.fail("refund", "", 2);
      await stage.ended(await stage.buy("x"));
      await stage.outOfLine();
      expect([stage.refunds.length, stage.attempts.length]).to.deep.equal([1, 1]);
    });
  });
});
