import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import text from "../../../plugins/text/index.ts";
import { tierOf } from "../../../plugins/text/tiers.ts";
import type { LlmRequest } from "../../../runtime/api/plugin.ts";
import { type LlmServer, openLlmServer, say } from "../../support/sources/llm-server.ts";
import { offline, replay } from "../../support/sources/replay.ts";
import { createHost, problemOf, readManifest, type Serve, serve } from "../host.ts";
import { createServicesLlm } from "../services-llm.ts";

const URL = "https://llm.test/v1";
const AURA = { color: "plain grey", tier: "D", score: 2500, description: "It is there." };
const GRADE = { letter_grade: "B", marginalia: ["Good."], summary: "Solid." };
const ROAST = { roast: "Ha.", target_summary: "A test." };
const ANSWERS = { roast: ROAST, aura: AURA, grade: GRADE };
const LONGEST = { roast: 8000, aura: 4000, grade: 6000 };
const RECORDING = "plugins/text/recordings/llm/aura.json";
const SCHEMA = JSON.parse(readFileSync(join(import.meta.dirname, "../../../schemas/AuraResponse.json"), "utf8"));
const open = (id: string, url = URL): Promise<Serve> => serve(id, text, createHost({ llm: createServicesLlm(url) }));

describe("a text service by the recorded answers of OpenAI's API", () => {
  offline();

  const [example] = readManifest("aura").examples;
  const ask = async (...cases: readonly string[]): Promise<Record<string, unknown>> => {
    const recorded = replay(URL, RECORDING, cases);
    try {
      return await (await open("aura"))(example?.input);
    } finally {
      recorded.assertDone();
    }
  };

  const mended: Record<string, readonly string[]> = {
    "in JSON mode where structured outputs are not known": ["error:no-json-schema", "success:json-mode"],
    "in prose where JSON mode is not known, either": [
      "error:no-json-schema",
      "error:no-json-mode",
      "success:plain-text",
    ],
    "under a limit by its newer name": ["error:no-max-tokens", "success:structured"],
    "after an answer that was cut off": ["error:length", "success:structured"],
    "after broken JSON": ["malformed:broken-json", "success:structured"],
    "after an answer that breaks the schema": ["malformed:wrong-shape", "success:structured"],
    "after an error of the server": ["error:server", "success:structured"],
  };
  for (const [when, cases] of Object.entries(mended))
    it(`is answered ${when}`, async () => {
      expect(await ask(...cases)).to.deep.equal(example?.output);
    });

  const failed: readonly [cases: readonly string[], sentence: string, retryAfter?: number][] = [
    [["error:server", "error:server"], "The language model answered with status 500"],
    [["error:credentials"], "The language model does not accept our credentials"],
    [["error:model"], "The language model answered with status 404"],
    [["error:quota"], "The language model is busy", 3600],
    [["rate-limit"], "The language model is busy", 30],
    [["error:refusal"], "The language model declined to answer"],
    [["error:content-filter"], "The language model declined to answer"],
    [["error:length", "error:length"], "The language model gave no usable answer"],
    [["malformed:wrong-shape", "malformed:broken-json"], "The language model gave no usable answer"],
    [["malformed:page"], "The language model's answer is malformed"],
    [["malformed:no-choices"], "The language model's answer is malformed"],
  ];
  for (const [cases, sentence, retryAfter] of failed)
    it(`fails after ${cases.join(" and ")}: ${sentence}`, async () => {
      const problem = await problemOf(ask(...cases));
      expect(problem).to.include({ code: "upstream-failed", message: sentence });
      expect(problem.options.retryAfter).to.equal(retryAfter);
    });

  it("fails after an answer without content, and another one", async () => {
    replay(URL, RECORDING, ["empty", "empty"]);
    const problem = await problemOf((await open("aura"))({ target: "Nothing." }));
    expect(problem).to.include({ code: "upstream-failed", message: "The language model gave no usable answer" });
  });

  it("ends with its call, however slow the answer is", async () => {
    replay(URL, RECORDING, ["slow"]);
    const work = (await open("aura"))(example?.input, { signal: AbortSignal.timeout(20) });
    expect(await work.catch((error: unknown) => error)).to.have.property("name", "TimeoutError");
  });
});

describe("a text service", () => {
  let server: LlmServer;
  before(async () => {
    server = await openLlmServer();
  });
  after(() => server.close());
  beforeEach(() => {
    server.asked.length = 0;
  });

  for (const [id, answer] of Object.entries(ANSWERS)) {
    const longest = LONGEST[id as keyof typeof LONGEST];

    it(`${id} shows the model the target as it was sent, under the prompt of its own`, async () => {
      const target = 'Ünïcode 🦄 "quotes" </s>\r\n\ttabs\u0000 and {braces}';
      server.behave(say(answer));
      expect(await (await open(id, server.url))({ target })).to.deep.equal(answer);
      const [system, user] = server.asked[0]?.body.messages ?? [];
      const prompt = join(import.meta.dirname, `../../../plugins/text/prompts/${id}.v1.txt`);
      expect(system?.content).to.satisfy((text: string) => text.startsWith(readFileSync(prompt, "utf8").trim()));
      expect(user?.content.split("\n").slice(1, -1).join("\n")).to.equal(target);
      expect(server.asked[0]?.body.response_format?.json_schema?.name).to.equal(id);
    });

    it(`${id} takes 1 to ${longest} characters, and no blanks alone`, async () => {
      const ask = await open(id, server.url);
      server.behave(say(answer));
      await ask({ target: "x" });
      await ask({ target: "🦄".repeat(longest) });
      for (const target of [
        "",
        " \n\t",
        "\u200b\u2060\0",
        " ".repeat(longest),
        "x".repeat(longest + 1),
        null,
        7,
        undefined,
      ])
        expect(await problemOf(ask({ target }))).to.have.property("code", "invalid-input");
      expect(server.asked).to.have.length(2);
    });

    it(`${id} has room in the body for ${longest} characters of any kind, also escaped`, () => {
      const { body_bytes = 65_536 } = readManifest(id) as { body_bytes?: number };
      expect(body_bytes).to.be.at.least(`{"target": "${"\\ud83e\\udd84".repeat(longest)}"}`.length);
    });

    for (const field of Object.keys(answer).filter((name) => name !== "tier"))
      it(`${id} sells no answer without ${field}`, async () => {
        const blank = Array.isArray(answer[field as never]) ? [] : " \n";
        server.behave(say({ ...answer, [field]: undefined }), say({ ...answer, [field]: blank }));
        expect(await problemOf((await open(id, server.url))({ target: "x" }))).to.have.property(
          "code",
          "upstream-failed",
        );
        expect(server.asked).to.have.length(2);
      });
  }

  it("asks by the bounds of the manifest that is called, which may be a copy of another name", async () => {
    const asked: string[] = [];
    const llm = {
      answer: async <T>({ service }: LlmRequest) => ANSWERS[ids[asked.push(service) - 1] as keyof typeof ANSWERS] as T,
    };
    const ids = Object.keys(ANSWERS);
    for (const id of ids) await (await serve(id, text, createHost({ llm })))({ target: "a" }, { service: `my_${id}` });
    expect(asked).to.deep.equal(["my_roast", "my_aura", "my_grade"]);
  });

  it("grade gives no grade that is not on the list", async () => {
    server.behave(say({ ...GRADE, letter_grade: "D-" }), say({ ...GRADE, letter_grade: "E" }));
    const problem = await problemOf((await open("grade", server.url))({ target: "x" }));
    expect(problem).to.have.property("code", "upstream-failed");
  });

  it("aura asks the model for all but the tier, as the output schema describes it", async () => {
    const { tier: _, ...asked } = AURA;
    server.behave(say(asked));
    expect(await (await open("aura", server.url))({ target: "x" })).to.deep.equal(AURA);
    const said = server.asked[0]?.body.messages[0]?.content ?? "";
    const { properties } = SCHEMA;
    for (const field of Object.keys(asked)) expect(said).to.contain(`"${field}":${JSON.stringify(properties[field])}`);
    expect(said).not.to.contain("tier");
  });

  it("aura gives the tier of its score, whatever the model makes of it", async () => {
    const ask = await open("aura", server.url);
    for (const [score, tier] of [
      [9999, "S"],
      [8999, "A"],
      [0, "F"],
    ] as const) {
      server.behave(say({ ...AURA, score, tier: "S+" }));
      expect(await ask({ target: "x" })).to.include({ score, tier });
    }
  });

  it("aura says in its schema where its tiers begin", () => {
    const bands = [...SCHEMA.properties.tier.description.matchAll(/([SABCD]) from (\d+)/g)];
    expect(bands.map(([, tier]) => tier).join("")).to.equal("SABCD");
    for (const [, tier, least] of bands) {
      expect(tierOf(Number(least))).to.equal(tier);
      expect(tierOf(Number(least) - 1)).not.to.equal(tier);
    }
  });
});
