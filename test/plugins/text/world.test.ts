import { expect } from "chai";
import oracle from "../../../plugins/oracle/index.ts";
import text from "../../../plugins/text/index.ts";
import tldr from "../../../plugins/tldr/index.ts";
import {
  type Behaviour,
  breakOff,
  garble,
  hangUp,
  type LlmServer,
  openLlmServer,
  refuse,
  say,
  send,
} from "../../support/sources/llm-server.ts";
import { createHost, problemOf, type Serve, serve } from "../host.ts";
import { createServicesLlm } from "../services-llm.ts";

const PLUGINS = { roast: text, aura: text, grade: text, oracle, tldr } as const;
const INPUTS: Readonly<Record<string, object>> = {
  oracle: { question: "Is it?" },
  tldr: { text: "A long text." },
};
const ANSWERS = {
  roast: { roast: "Ha.", target_summary: "A test." },
  aura: { color: "plain grey", tier: "D", score: 2500, description: "It is there." },
  grade: { letter_grade: "B", marginalia: ["Good."], summary: "Solid." },
  oracle: { answer: "NO", explanation: "It never was." },
  tldr: { summary_bullets: ["One.", "Two.", "Three."] },
} as const;

/** What an endpoint can do instead of answering. */
const FAULTS: Readonly<Record<string, Behaviour>> = {
  "is overloaded": refuse(503),
  "asks for a pause": refuse(429, {}, { "retry-after": "30" }),
  "takes no key": refuse(401),
  "closes the connection": hangUp,
  "breaks off": breakOff,
  "sends what is no HTTP": garble,
  "sends a page of HTML": send("<html>Just a moment...</html>", "text/html"),
  "sends no choice": send("{}"),
  "says nothing": say(""),
  declines: say(null, { refusal: "I cannot." }),
  "answers something else": say({ hello: "world" }),
  "is always cut off": say('{"roast":"Ha', { finish: "length" }),
  "only reasons": say("<think>Perhaps so."),
};

describe("a language model as it is in the world", () => {
  let server: LlmServer;
  before(async () => {
    server = await openLlmServer();
  });
  after(() => server.close());
  beforeEach(() => {
    server.asked.length = 0;
  });

  for (const id of Object.keys(PLUGINS) as (keyof typeof PLUGINS)[])
    describe(`asked for ${id}`, () => {
      let anchored: string[];
      let ask: Serve;
      beforeEach(async () => {
        anchored = [];
        const host = createHost({ llm: createServicesLlm(server.url) });
        const write: typeof host.anchor.write = (hash, signal) => {
          anchored.push(hash);
          return host.anchor.write(hash, signal);
        };
        ask = await serve(id, PLUGINS[id], { ...host, anchor: { ...host.anchor, write } });
      });
      const input = INPUTS[id] ?? { target: "A test." };

      for (const [what, behaviour] of Object.entries(FAULTS))
        it(`gives nothing to sell when it ${what}`, async () => {
          server.behave(behaviour);
          expect((await problemOf(ask(input))).code).to.equal("upstream-failed");
          expect(anchored).to.deep.equal([]);
        });

      it(`gives its answer behind reasoning with a draft, in a fence, between prose`, async () => {
        const draft = JSON.stringify({ ...ANSWERS[id], score: 1, answer: "YES" });
        const final = JSON.stringify(ANSWERS[id]);
        server.behave(say(`<think>${draft}</think>Sure:\n\`\`\`json\n${final}\n\`\`\`\nHope that helps!`));
        expect(await ask(input)).to.deep.include(ANSWERS[id]);
        expect(server.asked).to.have.length(1);
      });
    });
});
