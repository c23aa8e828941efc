import { expect } from "chai";
import type { AnyHandler } from "../../runtime/api/plugin.ts";
import { Problem, type ValidationIssue } from "../../runtime/api/problem.ts";
import { askReady, perform, performKept, readValidInput } from "../../runtime/core/perform.ts";
import { createCompiler } from "../../runtime/core/schema/validator.ts";
import { bindServices, type Service } from "../../runtime/core/service.ts";
import type { JobManifest } from "../../runtime/core/set/manifest.ts";
import { createScriptedRail } from "../support/chains/scripted-rail.ts";
import { toSite } from "../support/sellers/dice.ts";
import { problemOf, thrown } from "../support/thrown.ts";

const INPUT = {
  type: "object",
  properties: { low: { type: "integer" }, high: { type: "integer", maximum: 9 }, any: {} },
  required: ["low", "high"],
};
const OUTPUT = { type: "object", properties: { value: { type: "integer" } }, required: ["value"] };
const never = new AbortController().signal;

function toService(handler: unknown, deadline = 20): Service {
  const site = toSite([createScriptedRail()]);
  const [service] = bindServices(
    [
      {
        id: "roll",
        title: "roll",
        description: "It rolls.",
        route: "POST /v1/roll/{low}",
        handler: "dice.roll",
        input: INPUT,
        output: OUTPUT,
        tags: [],
        examples: [],
      },
    ],
    {
      site: { ...site, limits: { ...site.limits, deadline_seconds: deadline } },
      compile: createCompiler(new Map()),
      handlers: new Map([["dice.roll", handler as AnyHandler]]),
    },
  );
  return service as Service;
}

const issue = (field: string, more: Partial<ValidationIssue> = {}): ValidationIssue => ({
  loc: ["body", field],
  msg: "no",
  type: "value_error",
  ...more,
});

describe("the input of a call", () => {
  const read = (check: (input: unknown) => void, value: unknown): Promise<unknown> =>
    readValidInput(toService({ check, run: () => ({}) }), {
      input: async () => ({ value, from: "body" as const }),
    });
  const issuesOf = async (work: Promise<unknown>) => {
    const { code, options } = await problemOf(work);
    expect(code).to.equal("invalid-input");
    return options.issues?.map(({ loc, type }) => [loc.join("."), type]);
  };
  const refuse =
    (...issues: ValidationIssue[]) =>
    (): never => {
      throw new Problem("invalid-input", undefined, { issues });
    };

  it("has the faults of both at once, one for each field", async () => {
    const both = read(refuse(issue("low"), issue("high")), { low: 1, high: 10 });
    expect(await issuesOf(both)).to.deep.equal([
      ["body.high", "less_than_equal"],
      ["body.low", "value_error"],
    ]);
  });

  it("is not shown to the handler's rules while a value is missing or of another type", async () => {
    const never = (): never => expect.fail("asked");
    expect(await issuesOf(read(never, { low: 1 }))).to.deep.equal([["body.high", "missing"]]);
    expect(await issuesOf(read(never, { low: "one", high: 1 }))).to.have.length(1);
  });

  it("is not to blame for a handler whose rules break, unless the schema has found faults", async () => {
    const broken = new Error("broken");
    const fail = (): never => {
      throw broken;
    };
    expect(await thrown(read(fail, { low: 1, high: 2 }))).to.equal(broken);
    expect(await issuesOf(read(fail, { low: 1, high: 10 }))).to.deep.equal([["body.high", "less_than_equal"]]);
  });

  it("is shown in a fault only where it is short", async () => {
    const { options } = await problemOf(
      read(refuse(issue("low", { input: 1 }), issue("high", { input: "x".repeat(100_000) })), { low: 1, high: 2 }),
    );
    expect(options.issues?.map((one) => "input" in one)).to.deep.equal([true, false]);
  });
});

describe("the work of a call", () => {
  const call = { id: "1", signal: never, payer: undefined, network: undefined };

  it("gives what its schema allows, and its steps just run", async () => {
    const run = async (_input: unknown, { step, report }: { step: CallStep; report: (text: string) => void }) => {
      report("nothing listens");
      return { value: await step("one", async () => 7) };
    };
    expect(await perform(toService(run), {}, call)).to.deep.equal({ value: 7 });
  });

  it("is told its service, whose handler may be that of others, too", async () => {
    const services: string[] = [];
    const run = (_input: unknown, { service }: { service: string }) => ({ value: services.push(service) });
    const service = toService(run);
    await perform({ ...service, manifest: { ...service.manifest, id: "reroll" } }, {}, call);
    await perform(service, {}, call);
    expect(services).to.deep.equal(["reroll", "roll"]);
  });

  it("is our own fault when it breaks its schema, which only the log is told", async () => {
    const { code, message, options } = await problemOf(
      perform(
        toService(() => ({ value: "secret" })),
        {},
        call,
      ),
    );
    expect([code, message.includes("secret")]).to.deep.equal(["internal", false]);
    expect((options.cause as Error).message).to.match(/^the output of dice\.roll breaks its schema: /);
  });

  it("ends at its deadline, and then its signal says so", async () => {
    let seen: AbortSignal | undefined;
    const run = (_input: unknown, { signal }: { signal: AbortSignal }) => {
      seen = signal;
      return new Promise(() => {});
    };
    const late = await problemOf(perform(toService(run, 0.05), {}, call));
    expect([late.code, late.message]).to.deep.equal([
      "deadline-exceeded",
      "The service did not answer within 0.05 seconds",
    ]);
    expect(seen?.reason).to.equal(late);
  });

  it("ends when the caller leaves, and does not begin when the caller is gone", async () => {
    const leaving = new AbortController();
    let runs = 0;
    const service = toService(() => {
      runs += 1;
      leaving.abort();
      return new Promise(() => {});
    });
    for (let time = 0; time < 2; time += 1)
      expect(await problemOf(perform(service, {}, { ...call, signal: leaving.signal }))).to.have.property(
        "code",
        "unavailable",
      );
    expect(runs).to.equal(1);
  });

  it("leaves nothing behind on the caller's signal", async () => {
    const { signal } = new AbortController();
    const counts = { added: 0, removed: 0 };
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      counts.added += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      counts.removed += 1;
      remove(...args);
    };
    await perform(
      toService(() => ({ value: 1 })),
      {},
      { ...call, signal },
    );
    expect(counts).to.deep.equal({ added: 1, removed: 1 });
  });

  it("is asked whether it can be done, where it says so", async () => {
    const asked: unknown[] = [];
    const ready = async (input: unknown, signal: AbortSignal) => void asked.push(input, signal);
    await askReady(toService({ run: () => ({}), ready }), 1, never);
    await askReady(
      toService(() => ({})),
      2,
      never,
    );
    expect(asked).to.have.length(2);
    expect(asked[0]).to.equal(1);
    expect(asked[1], "the service's deadline").to.be.instanceOf(AbortSignal).that.has.property("aborted", false);
  });
});

describe("work that was paid for under an earlier schema", () => {
  /** What the handler is given where an input was accepted under another schema; or why it is not run. */
  const given = async (schema: object, kept: object): Promise<unknown> => {
    let input: unknown;
    const service = toService((now: unknown) => {
      input = now;
      return { value: 1 };
    });
    const changed = { ...service, input: createCompiler(new Map())({ type: "object", ...schema }) };
    const outcome = await performKept(changed, kept, { ...CALL }).catch((error: unknown) => Problem.from(error).code);
    return typeof outcome === "string" ? outcome : input;
  };
  const CALL = { id: "one", signal: never, payer: undefined, network: undefined };
  const low = { type: "integer" };

  it("is done with what was ordered, and the defaults of new fields", async () => {
    const list = { type: "array", items: { type: "object", properties: { low } } };
    const properties = { low, list, high: { type: "integer", default: 6 }, any: {} };
    const kept = { low: 1, list: [{ low: 2 }, {}], any: { deep: [null, "x"] } };
    expect(await given({ properties }, kept)).to.deep.equal({ ...kept, high: 6 });
    expect(await given({ properties: { low: { type: "integer", default: 3 } } }, { low: null })).to.deep.equal({
      low: 3,
    });
  });

  it("is delivered also where the service has become a job, whose calls are accepted", async () => {
    const compile = createCompiler(new Map());
    const accepting = { ...toService(() => ({ value: 5 })), output: compile({ type: "object", required: ["job_id"] }) };
    const job = { manifest: {} as JobManifest, deliverable: compile(OUTPUT), deadlineMs: 1000 };
    expect(await performKept({ ...accepting, job }, { low: 1, high: 2 }, CALL)).to.deep.equal({ value: 5 });
  });

  it("is not done where a field is gone, has moved, or is not taken any more", async () => {
    expect(await given({ properties: { high: low } }, { low: 1 })).to.equal("invalid-input");
    expect(await given({ properties: { low: { type: "integer", minimum: 2 } } }, { low: 1 })).to.equal("invalid-input");
    expect(await given({ properties: { low }, required: ["low"] }, {})).to.equal("invalid-input");
    const inner = { properties: { in: { type: "object", properties: { high: low } } } };
    expect(await given(inner, { in: { high: 1, low: 1 } })).to.equal("invalid-input");
    const list = { properties: { in: { type: "array", items: { type: "object", properties: { high: low } } } } };
    expect(await given(list, { in: [{ high: 1 }, { low: 1 }] })).to.equal("invalid-input");
  });
});

type CallStep = <T>(name: string, work: () => Promise<T>) => Promise<T>;
