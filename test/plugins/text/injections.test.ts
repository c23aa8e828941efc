import { expect } from "chai";
import oracle from "../../../plugins/oracle/index.ts";
import text from "../../../plugins/text/index.ts";
import { type Asked, type Behaviour, type LlmServer, openLlmServer, say } from "../../support/sources/llm-server.ts";
import { createHost, problemOf, type Serve, serve } from "../host.ts";
import { createServicesLlm } from "../services-llm.ts";
import { INJECTIONS } from "./injections.ts";

const GOOD: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  roast: { roast: "Ha.", target_summary: "A text with ambitions." },
  aura: { color: "grey", tier: "D", score: 2500, description: "It wants too much." },
  grade: { letter_grade: "D", marginalia: ["It asks instead of showing."], summary: "No." },
  oracle: { answer: "MAYBE", explanation: "It is no question." },
};

/** What a user's message holds inside and outside of the fence that the system's message has announced. */
function splitByFence({ body }: Asked): { inside: string; outside: string } {
  const [system, user] = body.messages;
  const [, mark = "no mark"] = /"BEGIN ([0-9a-f]{32})"/.exec(system?.content ?? "") ?? [];
  const lines = user?.content.split("\n") ?? [];
  const begin = lines.indexOf(`BEGIN ${mark}`);
  const end = lines.indexOf(`END ${mark}`);
  return {
    inside: lines.slice(begin + 1, end).join("\n"),
    outside: [...lines.slice(0, begin), ...lines.slice(end + 1)].join("\n"),
  };
}

describe("a text that gives orders", () => {
  let server: LlmServer;
  before(async () => {
    server = await openLlmServer();
  });
  after(() => server.close());

  const open = (id: string): Promise<Serve> =>
    serve(id, id === "oracle" ? oracle : text, createHost({ llm: createServicesLlm(server.url) }));
  const toInput = (id: string, attempt: string): object =>
    id === "oracle" ? { question: attempt } : { target: attempt };

  /** Follows every word that it is told outside of the fence, and only works on what is inside. */
  const obedient: Behaviour = (asked, response) => {
    const { outside } = splitByFence(asked);
    const { name = "" } = asked.body.response_format?.json_schema ?? {};
    return say(outside === "" ? (GOOD[name] ?? {}) : "HACKED")(asked, response);
  };
  /** Is persuaded by anything. */
  const gullible = say("HACKED");
  /** Is persuaded, and keeps the form as far as it must. */
  const sly = say({ answer: "HACKED", tier: "HACKED", score: -1, letter_grade: "HACKED", roast: "HACKED", color: "" });

  it("comes in at least twenty ways", () => {
    expect(Object.keys(INJECTIONS)).to.have.length.of.at.least(20);
  });

  for (const [way, attempt] of Object.entries(INJECTIONS))
    it(`as ${way}, stays inside of its fence, and is never sold as an answer of another shape`, async () => {
      for (const [id, good] of Object.entries(GOOD)) {
        const ask = await open(id);
        server.asked.length = 0;
        server.behave(obedient);
        expect(await ask(toInput(id, attempt))).to.include.keys(Object.keys(good));
        expect(server.asked).to.have.length(1);
        expect(server.asked.map(splitByFence)).to.deep.equal([{ inside: attempt, outside: "" }]);
        for (const persuaded of [gullible, sly]) {
          server.behave(persuaded);
          expect(await problemOf(ask(toInput(id, attempt)))).to.have.property("code", "upstream-failed");
        }
      }
    });
});
