import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { openShop } from "../../../runtime/cli/contract/contract.ts";
import { recordMissing } from "../../../runtime/cli/contract/missing.ts";
import { edit, type Files, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { openLlmServer, say } from "../../support/sources/llm-server.ts";
import { openSource, type ScriptedSource } from "../../support/sources/scripted-source.ts";

const PLUGIN = `import { definePlugin } from "#plugin";

export default definePlugin("toss", ({ upstream }) => ({
  async toss({ coins }, { signal }) {
    const answer = await upstream("mint").get("/coins", { query: { count: String(coins) }, signal });
    return answer.status === 404 ? { sides: [] } : { sides: answer.json().sides };
  },
}));
`;
const KEY = "key-of-the-mint";

describe("payphone record --new, of a service with code", () => {
  let source: ScriptedSource;
  let dir: string;
  before(async () => {
    source = await openSource();
    const { "plugins/toss.ts": _, ...rest } = TOSS;
    const site = "manifests/_site.yaml";
    const mint = `upstreams: [{ id: mint, title: The mint, url: "${source.url}", key: { variable: MINT_KEY, header: authorization, scheme: Bearer } }]\n`;
    const files: Files = {
      ...edit(rest, "manifests/toss.yaml", "tags:", "upstreams: [mint]\ntags:"),
      "plugins/toss/index.ts": PLUGIN,
    };
    dir = await makeDirectory({ ...files, [site]: `${files[site]}${mint}` });
  });
  after(() => source.close());
  const record = (...ids: string[]) => recordMissing({ dir, ids, env: { MINT_KEY: KEY } });
  const refusal = (...ids: string[]): Promise<string> => record(...ids).then(String, (error: Error) => error.message);

  it("asks what one input asks, and plays it from then on", async () => {
    source.script({ body: JSON.stringify({ sides: ["tails", "tails", "tails"] }) });
    const file = "plugins/toss/recordings/mint/toss.json";
    expect((await record("toss", '{"coins":3}')).report).to.equal(`${file} written`);
    expect(await readFile(join(dir, file), "utf8")).to.include('"path": "/coins?count=3"');
    expect((await record("toss", '{"coins":3}')).report).to.include("recorded already");
    expect(source.asked.map(({ path }) => path)).to.deep.equal(["/coins?count=3"]);
    const shop = await openShop({ dir, env: {} });
    expect(await shop.call("toss", { coins: 3 })).to.deep.equal({ sides: ["tails", "tails", "tails"] });
    await shop.close();
  });

  it("records a status that a service takes for an answer", async () => {
    source.script({ status: 404, body: '{"error":"no such coins"}' });
    expect((await record("toss", '{"coins":99}')).report).to.match(/toss\.json written$/);
    const shop = await openShop({ dir, env: {} });
    expect(await shop.call("toss", { coins: 99 })).to.deep.equal({ sides: [] });
    await shop.close();
    expect((await record("toss", '{"coins":99}')).report).to.include("recorded already");
  });

  it("keeps nothing that repeats a credential, and nothing of an input that is refused", async () => {
    source.script({ body: JSON.stringify({ sides: ["heads"], for: KEY }) });
    expect(await record("toss", '{"coins":1}')).to.deep.equal({
      report: "mint for toss: not recorded: it repeats a credential",
      hasFailed: true,
    });
    expect(await record("toss", '{"coins":0}')).to.deep.equal({
      report:
        "this input of toss: not recorded: The input does not match the schema: coins: Input should be greater than or equal to 1",
      hasFailed: true,
    });
  });

  it("asks the language model of the environment, and plays its last answer to any model", async () => {
    const model = await openLlmServer();
    const poet = `import { definePlugin } from "#plugin";

export default definePlugin("toss", ({ llm }) => ({
  toss: ({ coins }, { signal }) => llm.answer({ service: "toss", instructions: "Toss.", data: String(coins), signal }),
}));
`;
    const files = edit(TOSS, "manifests/toss.yaml", "tags:", "llm: { max_tokens: 99, timeout_seconds: 9 }\ntags:");
    const shopDir = await makeDirectory({ ...files, "plugins/toss.ts": poet });
    const env = { LLM_BASE_URL: model.url, LLM_MODEL: "tosser-1", LLM_API_KEY: KEY };
    const run = (own: Readonly<Record<string, string>>) =>
      recordMissing({ dir: shopDir, ids: ["toss", '{"coins":2}'], env: own });
    expect((await run({})).report).to.match(/not recorded: .* set LLM_BASE_URL and LLM_MODEL/s);
    model.behave(say({ sides: "both" }), say({ sides: ["tails", "heads"] }));
    expect((await run(env)).report).to.equal("recordings/llm/toss.json written");
    expect(model.asked.map(({ headers }) => headers.authorization)).to.deep.equal([`Bearer ${KEY}`, `Bearer ${KEY}`]);
    expect(JSON.stringify(model.asked[0]?.body), "a schema that refers to Side.json")
      .to.include("heads")
      .not.include("Side");
    expect((await run(env)).report).to.include("recorded already");
    const file = join(shopDir, "recordings/llm/toss.json");
    const text = await readFile(file, "utf8");
    expect(JSON.parse(text).exchanges[0].request.body).to.deep.equal({
      messages: [model.asked[0]?.body.messages[1]],
      response_format: { json_schema: { name: "toss" } },
    });
    expect([text.includes(KEY), text.includes("cannot be used"), text.match(/"case"/g)?.length]).to.deep.equal([
      false,
      false,
      1,
    ]);
    const shop = await openShop({ dir: shopDir, env: {} });
    expect(await shop.call("toss", { coins: 2 })).to.deep.equal({ sides: ["tails", "heads"] });
    await shop.close();
    model.behave(say({ sides: [KEY] }), say({ sides: ["heads"], for: KEY }));
    const leaky = await recordMissing({ dir: shopDir, ids: ["toss", '{"coins":1}'], env });
    expect(leaky.report).to.equal("llm for toss: not recorded: it repeats a credential");
    await model.close();
  });

  it("asks nothing of a service that can destroy something, which its message says", async () => {
    const manifest = join(dir, "manifests/toss.yaml");
    const text = await readFile(manifest, "utf8");
    await writeFile(manifest, `${text}hints: { readOnly: false, destructive: true }\ncharge: first\n`);
    const asked = source.asked.length;
    for (const input of [[], ['{"coins":77}']])
      expect(await record("toss", ...input)).to.deep.equal({
        report: "toss: not asked, because its hints say that it can destroy something",
        hasFailed: false,
      });
    expect(source.asked.length).to.equal(asked);
    await writeFile(manifest, text);
  });

  it("says what would be right", async () => {
    expect(await refusal("tosss")).to.match(/^"tosss" is no service and no upstream; .*record --new <service>/);
    expect(await refusal("toss", "{coins}")).to.equal("The input is no JSON: {coins}");
  });
});
