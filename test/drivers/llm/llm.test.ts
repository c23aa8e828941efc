import { inspect } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { eventually } from "../../support/eventually.ts";
import { FIRST, GOOD, openQuestions, type Questions, SCHEMA, SECOND } from "../../support/sources/llm-questions.ts";
import { type Behaviour, type LlmServer, openLlmServer, refuse, say } from "../../support/sources/llm-server.ts";

describe("a language model", () => {
  let server: LlmServer;
  let llm: Questions;
  before(async () => {
    server = await openLlmServer();
  });
  after(() => server.close());
  beforeEach(() => {
    llm = openQuestions(server);
  });

  describe("that is asked", () => {
    it("is told our instructions, the schema with its bounds and the limit, and shown the data as data", async () => {
      server.behave(say(GOOD));
      expect(await llm.ask("some\ntext")).to.deep.equal(GOOD);
      expect(server.asked[0]).to.have.property("path", "/v1/chat/completions");
      expect(server.asked[0]?.headers).to.have.property("authorization", "Bearer sk-of-ours");
      const [body] = llm.bodies();
      expect(body).to.deep.include({ model: FIRST, max_tokens: 300 });
      const [system, user, ...further] = body?.messages ?? [];
      expect([system?.role, user?.role, ...further]).to.deep.equal(["system", "user"]);
      expect(system?.content)
        .to.match(/^Judge the text\.\n/)
        .and.to.contain(JSON.stringify(SCHEMA));
      expect(user?.content).to.match(/^BEGIN ([0-9a-f]{32})\nsome\ntext\nEND \1$/);
    });

    it("is held to a strict form of the schema: all fields, no others, and no bounds that some endpoints refuse", async () => {
      server.behave(say(GOOD));
      await llm.ask();
      const strict = {
        type: "object",
        properties: {
          word: { type: "string", description: "One word." },
          score: { type: "integer" },
          notes: { type: "array", items: { type: "string" } },
          extra: { type: ["string", "null"] },
        },
        required: ["word", "score", "notes", "extra"],
        additionalProperties: false,
      };
      const json_schema = { name: "ser_vice", strict: true, schema: strict };
      expect(llm.bodies()[0]?.response_format).to.deep.equal({ type: "json_schema", json_schema });
    });

    it("is held to the question's own schema where it brings one", async () => {
      const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
      server.behave(say({ n: 1 }));
      expect(await llm.ask("x", { schema })).to.deep.equal({ n: 1 });
      expect(llm.bodies()[0]?.response_format?.json_schema?.schema).to.have.nested.property("properties.n");
    });

    it("leaves nothing in memory of a schema that was made for one question", async () => {
      const made: WeakRef<object>[] = [];
      const ask = (value: string): Promise<unknown> => {
        const schema = { type: "object", properties: { word: { enum: ["yes", value] } }, required: ["word"] };
        made.push(new WeakRef(schema));
        server.behave(say(GOOD));
        return llm.ask("x", { schema });
      };
      for (const value of ["a", "b", "c"]) expect(await ask(value)).to.deep.equal({ word: "yes" });
      setFlagsFromString("--expose-gc");
      await eventually(() => {
        runInNewContext("gc")();
        return made.slice(0, 2).every((schema) => schema.deref() === undefined);
      });
    });

    it("is asked with the name and the password that its URL has, which no log ever sees", async () => {
      const url = server.url.replace("//", "//name:open%20sesame@");
      llm = openQuestions({ ...server, url }, { apiKey: undefined });
      server.behave(say(GOOD), refuse(401));
      expect(await llm.ask()).to.deep.equal(GOOD);
      const basic = `Basic ${Buffer.from("name:open sesame").toString("base64")}`;
      expect(server.asked[0]?.headers).to.have.property("authorization", basic);
      await llm.fail();
      expect(inspect(llm.lines, { depth: null })).not.to.contain("sesame");
    });

    it("is asked without a key where the endpoint needs none", async () => {
      llm = openQuestions(server, { apiKey: undefined });
      server.behave(say(GOOD));
      await llm.ask();
      expect(server.asked[0]?.headers).not.to.have.property("authorization");
    });

    it("is asked the same words for the same data, and gets lone surrogates mended", async () => {
      server.behave(say(GOOD));
      await llm.ask("a\ud800b");
      await llm.ask("a\ufffdb");
      const [one, other] = llm.bodies();
      expect(one?.messages).to.deep.equal(other?.messages);
    });

    it("gives back what the schema names, with lone surrogates mended, and drops what it does not", async () => {
      server.behave(say('{"word":"yes\\ud83d","reasoning":"I think","score":7,"__proto__":{"extra":"polluted"}}'));
      expect(await llm.ask()).to.deep.equal({ ...GOOD, word: "yes\ufffd" });
    });
  });

  describe("whose answer has more in it than the object", () => {
    const draft = '{"word": "perhaps"}';
    const good = JSON.stringify(GOOD);
    const other = JSON.stringify({ ...GOOD, score: 1 });
    const toPart = (text: string): object => ({ type: "text", text });
    const wrapped: Record<string, string | object> = {
      "reasoning with a draft before it": `<think>\nFirst ${draft}.\n</think>\n${good}`,
      "reasoning without its opening tag": `Let me see: ${draft}\n</think>\n\n${good}`,
      "reasoning that holds the object itself": `<think>${good}</think>`,
      "reasoning in brackets": `[THINK]First ${other}[/THINK]${good}`,
      "reasoning in a channel": `<|channel|>analysis<|message|>${other}<|end|><|start|>assistant<|channel|>final<|message|>${good}`,
      "parts, and reasoning apart": [{ thinking: [{ text: other }] }, ...[good.slice(0, 9), good.slice(9)].map(toPart)],
      "the same object twice": `${good}\n\nIn short: ${good}`,
      "a fence": `\`\`\`json\n${good}\n\`\`\``,
      "prose around it": `Here you are: ${good}\nHope that helps!`,
      "code before it": `As for the code, ${"`if (a) { b }`, ".repeat(12)} I say: ${good}`,
      "a stray brace behind it": `${good}\nFits {word, score. :-{ Bye`,
      "an example that breaks the schema before it": `Like ${draft}, but: ${good}`,
      "all of that": `<thinking>{ hm }</thinking>Sure:\n\`\`\`\n${good}\n\`\`\`\nBye {}`,
    };
    for (const [what, text] of Object.entries(wrapped))
      it(`is read in one question: ${what}`, async () => {
        server.behave(say(text));
        expect(await llm.ask()).to.deep.equal(GOOD);
        expect(server.asked).to.have.length(1);
      });

    for (const mark of ["<think>", "</think>", "[THINK]"])
      for (const before of ["", `<think>First ${draft}</think>`])
        it(`is read in one question: ${before ? "reasoning, and " : ""}a text that quotes ${mark}`, async () => {
          const quoting = { ...GOOD, word: `a ${mark} tag` };
          server.behave(say(before + JSON.stringify(quoting)));
          expect(await llm.ask()).to.deep.equal(quoting);
          expect(server.asked).to.have.length(1);
        });
  });

  describe("whose answer cannot be used", () => {
    const DRAFT = '{"word":"no","score":1}';
    const faulty: readonly [why: string, behaviour: Behaviour, fault: RegExp][] = [
      ["breaks a bound", say({ word: "yes", score: 10 }), /score: Input should be less than or equal to 9/],
      ["lacks a field", say({ word: "yes" }), /score: Field required/],
      ["has a blank where a text should be", say({ word: " \n", score: 1 }), /word: String should match pattern/],
      ["is prose", say("Yes, by all means!"), /It holds no JSON object/],
      ["is a list", say("[1, 2]"), /It holds no JSON object/],
      ["is empty", say(""), /It holds no JSON object/],
      ["is nothing", say(null), /It holds no JSON object/],
      ["calls a tool", say(null, { finish: "tool_calls" }), /It holds no JSON object/],
      ["is broken JSON", say('{"word": "yes", "score": 7'), /It holds no JSON object/],
      ["is nothing but braces", say("{".repeat(900_000)), /It holds no JSON object/],
      ["has two answers", say('{"word":"no","score":1} No: {"word":"yes","score":7}'), /several answers/],
      ["reasons to two answers", say('<think>{"word":"no","score":1} {"word":"a","score":2}</think>'), /several/],
      ["was cut off while it reasoned", say('<think>Perhaps {"word":"no","score":1}', { finish: "length" }), /cut off/],
      [
        "was cut off in the answer after a draft",
        say(`${DRAFT} Wrong: {"word":"yes","sc`, { finish: "length" }),
        /cut off/,
      ],
      ["never ended the answer after a draft", say(`${DRAFT} Wrong: {"word":"yes","sc`), /It holds no JSON object/],
      ["was cut off where an answer began after a draft", say(`${DRAFT}\n{`, { finish: "length" }), /cut off/],
      ["never ended its reasoning", say('<think>Perhaps {"word":"no","score":1}'), /It holds no JSON object/],
      ["was cut off", say('{"word": "ye', { finish: "length" }), /cut off/],
    ];
    for (const [why, behaviour, fault] of faulty)
      it(`because it ${why}, is shown the fault and asked once more`, async () => {
        server.behave(behaviour, say(GOOD));
        expect(await llm.ask()).to.deep.equal(GOOD);
        const [first, second] = llm.bodies();
        const [, , answer, correction] = second?.messages ?? [];
        expect([answer?.role, correction?.role]).to.deep.equal(["assistant", "user"]);
        expect(answer?.content, "an answer that some endpoints refuse").not.to.equal("");
        expect(correction?.content).to.match(fault);
        expect(second?.messages.slice(0, 2)).to.deep.equal(first?.messages);
      });

    it("twice, is given up: the caller is told, and the log knows the faults", async () => {
      server.behave(say({ word: "yes", score: 10 }));
      const problem = await llm.fail();
      expect(problem).to.include({ code: "upstream-failed", message: "The language model gave no usable answer" });
      expect(server.asked).to.have.length(2);
      const faults = llm.lines.filter(({ event }) => event === "llm.unusable").map(({ fault }) => fault);
      expect(faults).to.deep.equal(Array(2).fill("score: Input should be less than or equal to 9"));
    });

    it("twice, makes room for the fallback model, which is asked afresh", async () => {
      llm = openQuestions(server, { fallbackModel: SECOND });
      server.behave(say("no"), say("no"), say(GOOD));
      expect(await llm.ask()).to.deep.equal(GOOD);
      expect(llm.models()).to.deep.equal([FIRST, FIRST, SECOND]);
      expect(llm.bodies()[2]?.messages).to.deep.equal(llm.bodies()[0]?.messages);
    });

    it("because it declines, is not pressed: the fallback model is asked, or the caller told", async () => {
      for (const refusal of [say(null, { refusal: "I'd rather not." }), say("", { finish: "content_filter" })]) {
        llm = openQuestions(server);
        server.behave(refusal);
        const problem = await llm.fail();
        expect(problem).to.include({ code: "upstream-failed", message: "The language model declined to answer" });
        expect(server.asked).to.have.length(1);
        llm = openQuestions(server, { fallbackModel: SECOND });
        server.behave(refusal, say(GOOD));
        expect(await llm.ask()).to.deep.equal(GOOD);
      }
    });
  });

  it("fails in the words of what carries its requests, where that has its own", async () => {
    const problem = new Problem("unavailable", "There is no recording of this question");
    llm = openQuestions(server, { options: { fetch: () => Promise.reject(problem) } });
    expect(await llm.fail()).to.equal(problem);
  });

  it("is unavailable where none is configured", async () => {
    llm = openQuestions(server, { options: { endpoint: undefined, limitsOf: () => undefined } });
    expect(await llm.fail()).to.include({ code: "unavailable", message: "No language model is configured" });
  });

  it("is not asked for a service whose manifest does not say how", async () => {
    llm = openQuestions(server, { options: { limitsOf: () => undefined } });
    expect(await llm.ask().catch((reason: unknown) => reason)).to.be.instanceOf(RangeError);
    expect(server.asked).to.have.length(0);
  });
});
