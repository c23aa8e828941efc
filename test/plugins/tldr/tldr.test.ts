import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import tldr from "../../../plugins/tldr/index.ts";
import { type Asked, type LlmServer, openLlmServer, refuse, say } from "../../support/sources/llm-server.ts";
import { offline, replay } from "../../support/sources/replay.ts";
import { createHost, faultsOf, problemOf, readManifest, type Serve, serve } from "../host.ts";
import { createServicesLlm } from "../services-llm.ts";

const ROOT = join(import.meta.dirname, "../../..");
const BULLETS = ["The tide rises.", "The tide falls.", "It is the moon."];
const SUMMARIZED = { summary_bullets: BULLETS };
const BOTH = "body: Value error, text and url are both there; send one of them";
const NEITHER = "body: Value error, send the text, or the url where it is";

const promptOf = (name: string): string =>
  readFileSync(join(ROOT, "plugins/tldr/prompts", `${name}.txt`), "utf8").trim();
/** What a model was shown between the lines of its fence. */
const dataOf = ({ body }: Asked): string => body.messages[1]?.content.split("\n").slice(1, -1).join("\n") ?? "";
/** Whether notes are asked for, and not bullets. */
const isForNotes = ({ body }: Asked): boolean => JSON.stringify(body.response_format).includes('"notes"');

describe("a summary by the recorded answers of OpenAI's API", () => {
  offline();
  const [example] = readManifest("tldr").examples;
  const ask = async (...cases: readonly string[]): Promise<Record<string, unknown>> => {
    const recorded = replay("https://llm.test/v1", "plugins/tldr/recordings/llm/tldr.json", cases);
    const summarize = await serve("tldr", tldr, createHost({ llm: createServicesLlm("https://llm.test/v1") }));
    return summarize(example?.input).finally(() => recorded.assertDone());
  };

  it("is asked for again, when it has fewer than 3 bullets or more than 5", async () => {
    expect(await ask("malformed:two-bullets", "success")).to.deep.equal(example?.output);
    expect(await ask("malformed:six-bullets", "success")).to.deep.equal(example?.output);
  });

  it("is not sold, when it still has fewer than 3 bullets or more than 5", async () => {
    const { code } = await problemOf(ask("malformed:six-bullets", "malformed:two-bullets"));
    expect(code).to.equal("upstream-failed");
  });

  it("fails with the model, and says when to come back", async () => {
    expect(await problemOf(ask("error:server", "error:server"))).to.have.property("code", "upstream-failed");
    expect((await problemOf(ask("rate-limit"))).options.retryAfter).to.equal(30);
  });
});

describe("a summary", () => {
  let model: LlmServer;
  let summarize: Serve;
  before(async () => {
    model = await openLlmServer();
    summarize = await serve("tldr", tldr, createHost({ llm: createServicesLlm(model.url) }));
  });
  after(() => model.close());
  beforeEach(() => {
    model.asked.length = 0;
    model.behave(say(SUMMARIZED));
  });
  describe("of a text", () => {
    it("is asked for with one of text and url", async () => {
      const url = "https://one.example/";
      expect(await faultsOf(summarize({ text: "a", url }))).to.deep.equal([BOTH]);
      for (const input of [{}, { text: null }, { url: null, text: null }])
        expect(await faultsOf(summarize(input))).to.deep.equal([NEITHER]);
      for (const text of ["", " \n\t\u00a0", "\u200b\u3164"])
        expect(await faultsOf(summarize({ text }))).to.deep.equal(["body.text: Value error, text must not be blank"]);
      expect((await summarize({ text: "The tide.", url: null })).source_chars).to.equal(9);
    });

    it("counts characters as Unicode does, and takes 200000 of them", async () => {
      expect((await summarize({ text: "潮汐 🌊" })).source_chars).to.equal(4);
      model.behave((asked, response) => say(isForNotes(asked) ? { notes: ["Waves."] } : SUMMARIZED)(asked, response));
      expect((await summarize({ text: "🌊".repeat(200_000) })).source_chars).to.equal(200_000);
      expect(await problemOf(summarize({ text: "x".repeat(200_001) }))).to.have.property("code", "invalid-input");
    });

    it("has room in the body for 200000 characters of any kind", () => {
      const { body_bytes } = readManifest("tldr") as { body_bytes?: number };
      expect(body_bytes).to.be.at.least(Buffer.byteLength(JSON.stringify({ text: "🌊".repeat(200_000) })));
    });

    it("asks the model for what the output schema holds it to, in words of our own", async () => {
      await summarize({ text: "The tide." });
      const said = model.asked[0]?.body.messages[0]?.content ?? "";
      const schema = JSON.parse(readFileSync(join(ROOT, "schemas/TldrResponse.json"), "utf8"));
      expect(said).to.include(JSON.stringify(schema.properties.summary_bullets));
      expect(said.startsWith(promptOf("bullets.v1"))).to.equal(true);
    });
  });

  describe("of a long text", () => {
    const sentences = Array.from(
      { length: 5000 },
      (_, at) => `Of wave ${at} it is said that it came.${at % 7 ? " " : "\n\n"}`,
    );
    const text = sentences.join("");

    it("is one of notes on all its parts, each shown to the model once", async () => {
      model.behave((asked, response) =>
        say(isForNotes(asked) ? { notes: [`Begins: ${dataOf(asked).slice(0, 20)}`] } : SUMMARIZED)(asked, response),
      );
      expect(await summarize({ text })).to.deep.equal({ ...SUMMARIZED, source_chars: text.length });
      const questions = model.asked.filter(isForNotes);
      for (const { body } of questions)
        expect(body.messages[0]?.content.startsWith(promptOf("notes.v1"))).to.equal(true);
      const parts = questions.map(dataOf);
      const inOrder = parts.toSorted((one, other) => text.indexOf(one) - text.indexOf(other));
      expect(inOrder.join("")).to.equal(text);
      expect(parts.every((part) => part.length <= 16_000)).to.equal(true);
      const [last, ...more] = model.asked.filter((asked) => !isForNotes(asked));
      expect(more).to.deep.equal([]);
      expect(last && dataOf(last).split("\n\n")).to.deep.equal(inOrder.map((part) => `Begins: ${part.slice(0, 20)}`));
    });

    it("is one of notes on notes, when there are very many", async () => {
      const notes = Array.from({ length: 6 }, (_, at) => String(at).padEnd(500, " so it goes"));
      model.behave((asked, response) => say(isForNotes(asked) ? { notes } : SUMMARIZED)(asked, response));
      expect((await summarize({ text })).summary_bullets).to.deep.equal(BULLETS);
      const ofNotes = model.asked.filter((asked) => isForNotes(asked) && dataOf(asked).startsWith("0 so it goes"));
      expect(ofNotes).to.have.length.above(1);
      expect(dataOf(model.asked.at(-1) as Asked).length).to.be.at.most(16_000);
    });

    it("is not sold when one part could not be read, and the others are not read on", async () => {
      const left: Promise<unknown>[] = [];
      model.behave((asked, response) => {
        if (dataOf(asked).startsWith("Of wave 0 ")) return refuse(401)(asked, response);
        left.push(once(response, "close")); // It is never answered.
      });
      const { code } = await problemOf(summarize({ text }));
      expect(code).to.equal("upstream-failed");
      await Promise.all(left);
      expect(model.asked).to.have.length.at.most(6); // Of 11: as many as are read at once, and one that may have begun.
    });

    it("ends with its call", async () => {
      const gone = new AbortController();
      const reason = new Error("gone");
      model.behave(() => gone.abort(reason));
      const work = summarize({ text }, { signal: gone.signal });
      expect(await work.catch((error: unknown) => error)).to.equal(reason);
    });
  });
});
