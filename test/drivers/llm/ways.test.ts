import { expect } from "chai";
import { FIRST, GOOD, openQuestions, type Questions, SECOND } from "../../support/sources/llm-questions.ts";
import { type LlmServer, openLlmServer, refuse, say } from "../../support/sources/llm-server.ts";

describe("a language model behind an endpoint with its own ways", () => {
  let server: LlmServer;
  let llm: Questions;
  before(async () => {
    server = await openLlmServer();
  });
  after(() => server.close());
  beforeEach(() => {
    llm = openQuestions(server);
  });

  const noSchema = refuse(400, { message: "response_format of type json_schema is not supported" });
  const noJson = refuse(422, { message: "response_format: json_object is unknown" });

  it("is asked in JSON mode where structured outputs are refused, and from then on", async () => {
    server.behave(noSchema, say(GOOD));
    expect(await llm.ask()).to.deep.equal(GOOD);
    expect(await llm.ask()).to.deep.equal(GOOD);
    expect(llm.formats()).to.deep.equal(["json_schema", "json_object", "json_object"]);
  });

  it("is asked for plain text where both are refused, and its object is found among the prose", async () => {
    const notes = ['"}"', "{{"];
    const prose = `Sure {as you wish}:\n\`\`\`json\n${JSON.stringify({ ...GOOD, notes })}\n\`\`\`\nBye {}`;
    server.behave(noSchema, noJson, say(prose));
    expect(await llm.ask()).to.deep.include(GOOD);
    expect(await llm.ask()).to.have.deep.property("notes", notes);
    expect(llm.formats()).to.deep.equal(["json_schema", "json_object", undefined, undefined]);
  });

  it("is told its limit by the newer name where the older one is refused, and from then on", async () => {
    server.behave(refuse(400, { param: "max_tokens", code: "unsupported_parameter" }), say(GOOD));
    await llm.ask();
    await llm.ask();
    const limits = llm.bodies().map((body) => [body.max_tokens, body.max_completion_tokens]);
    const newer = [undefined, 300];
    expect(limits).to.deep.equal([[300, undefined], newer, newer]);
    expect(llm.formats()).to.deep.equal(Array(3).fill("json_schema"));
  });

  it("is asked in no more than four ways, whatever it complains of", async () => {
    server.behave(refuse(400, { param: "max_tokens" }));
    await llm.fail();
    expect(llm.formats()).to.deep.equal(["json_schema", "json_schema", "json_object", undefined]);
  });

  it("is not thought less of for a request that is refused in every way", async () => {
    server.behave(refuse(400));
    expect((await llm.fail()).message).to.equal("The language model answered with status 400");
    expect(llm.formats()).to.deep.equal(["json_schema", "json_object", undefined]);
    server.behave(say(GOOD));
    await llm.ask();
    expect(llm.formats().at(-1)).to.equal("json_schema");
  });

  it("keeps each model's ways apart", async () => {
    llm = openQuestions(server, { fallbackModel: SECOND });
    server.behave(noSchema, say("no"), say("no"), say(GOOD));
    await llm.ask();
    expect(llm.models()).to.deep.equal([FIRST, FIRST, FIRST, SECOND]);
    expect(llm.formats()).to.deep.equal(["json_schema", "json_object", "json_object", "json_schema"]);
  });
});
