import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { FIRST, GOOD, openQuestions, type Questions, SECOND } from "../../support/sources/llm-questions.ts";
import {
  type Behaviour,
  breakOff,
  flood,
  garble,
  hang,
  hangUp,
  type LlmServer,
  openLlmServer,
  refuse,
  say,
  send,
  stall,
} from "../../support/sources/llm-server.ts";

/** Spares the tests the client's pause before it asks again. */
const AT_ONCE = { "retry-after-ms": "1" };

describe("a language model that fails", () => {
  let server: LlmServer;
  let llm: Questions;
  before(async () => {
    server = await openLlmServer();
  });
  after(() => server.close());
  const openAlone = (): Questions => openQuestions(server);
  const openPair = (seconds = 5): Questions => openQuestions(server, { fallbackModel: SECOND, seconds });

  const passing: Record<string, Behaviour> = {
    "answers 500": refuse(500, {}, AT_ONCE),
    "answers 503": refuse(503, {}, AT_ONCE),
    "is busy for a moment": refuse(429, {}, AT_ONCE),
    "hangs up": hangUp,
    "breaks off in the middle of its answer": breakOff,
    "sends a chunk that is none": garble,
  };
  for (const [why, behaviour] of Object.entries(passing)) {
    it(`because it ${why}, is asked again, once`, async () => {
      llm = openAlone();
      server.behave(behaviour, say(GOOD));
      expect(await llm.ask()).to.deep.equal(GOOD);
      server.behave(behaviour);
      expect(await llm.fail()).to.have.property("code", "upstream-failed");
      expect(llm.models()).to.deep.equal([FIRST, FIRST, FIRST, FIRST]);
    });

    it(`because it ${why}, is not asked again where there is a fallback model: that one is`, async () => {
      llm = openPair();
      server.behave(behaviour, say(GOOD));
      expect(await llm.ask()).to.deep.equal(GOOD);
      expect(llm.models()).to.deep.equal([FIRST, SECOND]);
    });
  }

  for (const [why, behaviour] of Object.entries({ "says nothing": hang, "never ends": stall }))
    it(`because it ${why}, is left after its time`, async () => {
      llm = openPair(3); // Enough for the second model on a busy machine.
      server.behave(behaviour, say(GOOD));
      expect(await llm.ask()).to.deep.equal(GOOD);
      expect(llm.models()).to.deep.equal([FIRST, SECOND]);
      llm = openPair(0.1);
      server.behave(behaviour);
      expect(await llm.fail()).to.include({ code: "upstream-failed", message: "The language model did not answer" });
      expect(llm.models()).to.deep.equal([FIRST, SECOND, SECOND]);
    });

  it("because it never stops talking, cannot fill the memory", async () => {
    llm = openPair(600);
    server.behave(flood, say(GOOD));
    expect(await llm.ask()).to.deep.equal(GOOD);
  });

  const nonsense: Record<string, Behaviour> = {
    "a page of HTML": send("<html>Bad Gateway</html>", "text/html"),
    "JSON that breaks off": send('{"choices": ['),
    null: send("null"),
    "a number": send("7"),
    "no choices": send('{"choices": []}'),
    "no message": send('{"choices": [{"finish_reason": "stop"}]}'),
    "an empty body": send(""),
  };
  for (const [what, behaviour] of Object.entries(nonsense))
    it(`because it sends ${what}, gives no answer`, async () => {
      llm = openPair();
      server.behave(behaviour, say(GOOD));
      expect(await llm.ask()).to.deep.equal(GOOD);
      llm = openAlone();
      server.behave(behaviour);
      expect(await llm.fail()).to.have.property("code", "upstream-failed");
    });

  describe("is known not to answer", () => {
    let now = 1_800_000_000_000;
    beforeEach(() => {
      llm = openQuestions(server, { options: { clock: { now: () => now } } });
    });
    const fail = async (times = 1): Promise<string | undefined> => {
      for (; times > 0; times -= 1) await llm.fail();
      return llm.outage();
    };

    it("for a minute after it has refused our key, and as long as it has asked for", async () => {
      server.behave(refuse(401), say("No."), say("No."), refuse(429, {}, { "retry-after": "30" }));
      expect(await fail(2)).to.equal("The language model does not accept our credentials");
      now += 60_000;
      expect(llm.outage()).to.equal(undefined);
      expect(await fail()).to.equal("The language model is busy");
      now += 30_000;
      expect(llm.outage()).to.equal(undefined);
    });

    it("until it answers again", async () => {
      server.behave(refuse(401), say(GOOD), refuse(400));
      expect(await fail()).to.be.a("string");
      await llm.ask();
      expect(await fail()).to.equal(undefined);
    });

    it("for a minute after it has said that nothing is left to pay it with", async () => {
      server.behave(refuse(402), say("No."), say("No."), refuse(429, { code: "insufficient_quota" }, AT_ONCE));
      expect(await fail()).to.equal("The language model answered with status 402");
      now += 60_000;
      expect(await fail()).to.equal(undefined);
      expect(await fail()).to.equal("The language model is busy");
      now += 60_000;
      expect(llm.outage()).to.equal(undefined);
      server.behave(refuse(429, { code: "insufficient_quota" }, { "retry-after": "300" }));
      expect(await fail()).to.equal("The language model is busy");
      now += 299_000;
      expect(llm.outage(), "the pause that it asks for").to.equal("The language model is busy");
    });

    const lasting: Record<string, Behaviour> = {
      "answers 503": refuse(503, {}, AT_ONCE),
      "hangs up": hangUp,
      "is busy, without saying for how long": refuse(429, {}, AT_ONCE),
      "says that it does not exist": refuse(404, { code: "model_not_found" }),
    };
    for (const [why, behaviour] of Object.entries(lasting))
      it(`after five questions in a row to which it ${why}`, async () => {
        server.behave(behaviour);
        expect(await fail(4)).to.equal(undefined);
        expect(await fail()).to.match(/^The language model (answered with status [45]0[34]|did not answer|is busy)$/);
        server.behave(say(GOOD));
        await llm.ask();
        expect(llm.outage()).to.equal(undefined);
      });

    it("by nothing that may concern one text alone", async () => {
      for (const behaviour of [refuse(400), refuse(403), say("No."), say(null, { refusal: "No." })]) {
        server.behave(behaviour);
        expect(await fail(6)).to.equal(undefined);
      }
    });
  });

  it("says for how long it is busy, instead of waiting that long", async () => {
    llm = openAlone();
    server.behave(refuse(429, {}, { "retry-after": "30" }));
    const problem = await llm.fail();
    expect(problem).to.include({ code: "upstream-failed", message: "The language model is busy" });
    expect(problem.options.retryAfter).to.equal(30);
    expect(server.asked).to.have.length(1);
    server.behave(refuse(503, {}, { "retry-after": new Date(Date.now() + 3_600_000).toUTCString() }));
    expect((await llm.fail()).options.retryAfter).to.be.within(3000, 3600);
  });

  it("does not let the caller know our key, nor what it says about it", async () => {
    for (const status of [401, 403]) {
      llm = openAlone();
      server.behave(refuse(status, { message: "Incorrect API key provided: sk-of-ours" }));
      const problem = await llm.fail();
      expect(problem.message).to.equal("The language model does not accept our credentials");
      expect(JSON.stringify(problem)).not.to.contain("sk-of");
      expect(llm.lines.filter(({ level }) => level === "error")).to.have.length(1);
    }
  });

  it("because it does not exist, leaves the question to the fallback model", async () => {
    llm = openPair();
    server.behave(refuse(404, { code: "model_not_found" }), say(GOOD));
    expect(await llm.ask()).to.deep.equal(GOOD);
  });

  it("because nobody listens there, did not answer", async () => {
    const endpoint = { baseUrl: "http://127.0.0.1:1/v1", model: FIRST };
    llm = openQuestions(server, { options: { endpoint } });
    expect(await llm.fail()).to.include({ code: "upstream-failed", message: "The language model did not answer" });
  });

  const busy = refuse(429, {}, { "retry-after": "2" });
  for (const [what, behaviour] of Object.entries({ silence: hang, "half an answer": stall, "a pause": busy }))
    it(`is left in ${what} when the caller's time is up, and nobody else is asked`, async () => {
      llm = behaviour === busy ? openAlone() : openPair();
      const deadline = new AbortController();
      const reason = new Problem("deadline-exceeded");
      server.behave((asked, response) => {
        behaviour(asked, response);
        setTimeout(() => deadline.abort(reason), 20);
      });
      expect(await llm.fail(llm.ask("x", { signal: deadline.signal }))).to.equal(reason);
      expect(llm.models()).to.deep.equal([FIRST]);
    });

  it("is not asked for somebody who has left", async () => {
    llm = openAlone();
    const reason = new Problem("unavailable", "The caller is gone");
    expect(await llm.fail(llm.ask("x", { signal: AbortSignal.abort(reason) }))).to.equal(reason);
    expect(server.asked).to.have.length(0);
  });

  it("in every way in turn, under a hundred questions, gives each its own answer or a Problem, and nothing else", async () => {
    llm = openPair(10); // Less, and a busy machine would give up before it has asked.
    const broken = [refuse(500), hangUp, breakOff, garble, hang, stall, send("<html>")];
    const faults = [...broken, say("no"), say({ score: 1 })];
    let turn = 0;
    server.behave(async (asked, response) => {
      turn += 1;
      await new Promise((done) => setTimeout(done, turn % 7));
      const [, number] = /text (\d+)/.exec(asked.body.messages[1]?.content ?? "") ?? [];
      const behaviour =
        turn % 3 > 0 ? say({ word: `w${number}`, score: turn % 10 }) : faults[(turn / 3) % faults.length];
      return behaviour?.(asked, response);
    });
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, (_, at) => llm.ask(`text ${at}`)));
    for (const [at, outcome] of outcomes.entries())
      if (outcome.status === "fulfilled") expect(outcome.value).to.have.property("word", `w${at}`);
      else expect(outcome.reason).to.be.instanceOf(Problem).with.property("code", "upstream-failed");
    expect(outcomes.map(({ status }) => status)).to.include("fulfilled");
  });
});
