import { expect } from "chai";
import oracle from "../../../plugins/oracle/index.ts";
import text from "../../../plugins/text/index.ts";
import tldr from "../../../plugins/tldr/index.ts";
import { type Host, type Plugin, Problem } from "../../../runtime/api/plugin.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createLlm } from "../../../runtime/drivers/llm/llm.ts";
import { openShop, type Shop } from "../../support/sellers/shop.ts";
import {
  type Behaviour,
  hangUp,
  type LlmServer,
  openLlmServer,
  refuse,
  say,
} from "../../support/sources/llm-server.ts";
import { createHost, serve } from "../host.ts";
import { createServicesLlm } from "../services-llm.ts";

const ROAST = { roast: "Ha.", target_summary: "A test." };
const VERDICT = { answer: "NO", explanation: "It never was." };

describe("a paid question to a language model", () => {
  let server: LlmServer;
  let shop: Shop;
  before(async () => {
    [server, shop] = await Promise.all([openLlmServer(), openShop()]);
  });
  after(() => Promise.all([server.close(), shop.close()]));
  beforeEach(() => {
    shop.rail.asked.settle = 0;
    server.asked.length = 0;
  });

  /** Pays for a call whose work is that of the service. */
  async function buy(id: string, plugin: Plugin<object>, host: Partial<Host>): Promise<Response> {
    const ask = await serve(id, plugin, createHost(host));
    const field = { oracle: "question", tldr: "text" }[id] ?? "target";
    shop.handler = async (_input, { signal }) => {
      await ask({ [field]: "Is it?" }, { signal });
      return { value: 1 };
    };
    return shop.buy("/v1/roll", { low: 1, high: 6 });
  }
  const buyRoast = (behaviour: Behaviour): Promise<Response> => {
    server.behave(behaviour);
    return buy("roast", text, { llm: createServicesLlm(server.url) });
  };

  it("is charged once, when it was answered", async () => {
    expect((await buyRoast(say(ROAST))).status).to.equal(200);
    expect(shop.rail.asked.settle).to.equal(1);
  });

  const failures: Record<string, Behaviour> = {
    "the model follows its reader instead of us": say("HACKED"),
    "the model leaves out half": say({ roast: "Ha." }),
    "the model declines": say(null, { refusal: "I'd rather not." }),
    "the model does not accept our key": refuse(401),
    "the connection breaks": hangUp,
  };
  for (const [when, behaviour] of Object.entries(failures))
    it(`is not charged when ${when}`, async () => {
      expect((await buyRoast(behaviour)).status).to.equal(502);
      expect(shop.rail.asked.settle).to.equal(0);
    });

  const SORRY = "I'm sorry, but I can't help with that.";
  const plugins: Readonly<Record<string, Plugin<object>>> = { oracle, tldr };
  const worthless: readonly [id: string, answer: object][] = [
    ["oracle", { answer: "NO", explanation: "I'm sorry, but I can't assist with that request." }],
    ["oracle", { answer: "NO", explanation: "申し訳ありませんが、そのご質問にはお答えできません。" }],
    ["oracle", { answer: "MAYBE", explanation: "…" }],
    ["tldr", { summary_bullets: [SORRY, SORRY, "I cannot comply with that."] }],
    ["tldr", { summary_bullets: Array(3).fill("大変申し訳ございませんが、その内容の要約はお手伝いできません。") }],
    ["roast", { ...ROAST, roast: SORRY }],
    ["roast", { ...ROAST, roast: "As an AI language model, I cannot fulfill this request." }],
    ["roast", { ...ROAST, roast: "I apologize, but I cannot create this content." }],
    ["roast", { ...ROAST, roast: "I’m really sorry. As an AI, I can’t engage with that request." }],
    ["roast", { ...ROAST, roast: "申し訳ございませんが、このリクエストに対応することはできません。" }],
    ["roast", { ...ROAST, roast: "…" }],
    ["roast", { ...ROAST, roast: "Lo siento, pero no puedo ayudar con esa solicitud." }],
    ["oracle", { answer: "MAYBE", explanation: "Es tut mir leid, aber diese Frage kann ich nicht beantworten." }],
    ["oracle", { answer: "NO", explanation: "Es tut mir leid, aber ich kann dir nicht helfen." }],
    ["oracle", { answer: "NO", explanation: "对不起，我无法回答这个问题。很抱歉，我无法提供。" }],
    ["oracle", { answer: "NO", explanation: "К сожалению, я не могу помочь вам с вашим запросом." }],
    ["oracle", { answer: "MAYBE", explanation: "죄송합니다. 요청하신 내용은 제공할 수 없습니다." }],
    ["tldr", { summary_bullets: Array(3).fill("很抱歉，我无法协助处理该请求。") }],
    ["grade", { letter_grade: "F", marginalia: ["N/A"], summary: "Désolé, je ne peux pas répondre à cette demande." }],
    ["aura", { color: "none", score: 0, description: "Sorry, I am unable to assist with this request." }],
    ["grade", { letter_grade: "F", marginalia: ["N/A"], summary: "Unfortunately, I won't provide that." }],
    ["grade", { letter_grade: "F", marginalia: ["N/A"], summary: SORRY.replaceAll("'", "’") }],
  ];
  for (const [id, answer] of worthless)
    it(`is not charged when the model declines in the form that ${id} asks for: ${JSON.stringify(answer)}`, async () => {
      server.behave(say(answer));
      expect((await buy(id, plugins[id] ?? text, { llm: createServicesLlm(server.url) })).status).to.equal(502);
      expect(shop.rail.asked.settle).to.equal(0);
    });

  it("is charged where an answer has such words and goes on, or means something else by them", async () => {
    const roasts = [
      "I'm sorry, but I can't help with that haircut.",
      "申し訳ありませんが、この髪型にはお手伝いできません。床屋さんも、そう言って店を閉めました。",
      "この店はカードに対応できません。",
      "Lo siento, pero no puedo ayudar con ese jardín. Los caracoles ya lo intentaron.",
      "抱歉，这家店的汤无法更咸了。",
      "Tut mir leid, aber deinem Kleiderschrank kann ich auch nicht helfen.",
      "Lo siento, pero no puedo ayudar con ese jardín.",
      "죄송하지만 그 머리는 미용사도 도와줄 수 없어요.",
      `${"抱歉无法帮".repeat(35)}。。`,
      ...["、", "、、"].map((end) => `${"すみませんが、回答対応作成できません".repeat(11)}${end}`),
      "Unfortunately, I cannot provide this garden with a compliment.",
      "Sorry, I cannot help you with this startup: it is past the point where anybody could.",
      `${SORRY} That is what every investor said who was shown the umbrellas on the blockchain, and then each of them asked for one, since it had begun to rain on the way out, and nobody could remember the pass phrase of the stand.`,
    ];
    for (const roast of roasts) expect((await buyRoast(say({ ...ROAST, roast }))).status, roast).to.equal(200);
  });

  it("is not charged when the model is busy, and the payer learns for how long", async () => {
    const response = await buyRoast(refuse(429, {}, { "retry-after": "30" }));
    expect([response.status, response.headers.get("retry-after")]).to.deep.equal([502, "30"]);
    expect(shop.rail.asked.settle).to.equal(0);
  });

  it("is not charged when no endpoint is configured: 503", async () => {
    const terms = { limitsOf: () => undefined, schemaOf: () => undefined, clock: shop.clock, log: silentLog };
    const response = await buy("roast", text, { llm: createLlm({ endpoint: undefined, ...terms }) });
    expect(response.status).to.equal(503);
    expect(await response.json()).to.include({ code: "unavailable", detail: "No language model is configured" });
    expect(shop.rail.asked.settle).to.equal(0);
  });

  it("is not charged when Base fails, even though the oracle has spoken: 502", async () => {
    server.behave(say(VERDICT));
    const write = (): never => {
      throw new Problem("upstream-failed", "The Base chain could not be asked");
    };
    const response = await buy("oracle", oracle, {
      llm: createServicesLlm(server.url),
      anchor: { ready: async () => {}, write },
    });
    expect(response.status).to.equal(502);
    expect(await response.text()).not.to.contain(VERDICT.explanation);
    expect(server.asked).to.have.length(1);
    expect(shop.rail.asked.settle).to.equal(0);
  });
});
