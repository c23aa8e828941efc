import { expect } from "chai";
import { KEY, LIST, PRICE, PRICES, stageRecord, success } from "./stage.ts";

describe("payphone record", () => {
  const stage = stageRecord();
  const { exchangesOf, make, read, record } = stage;

  it("asks again what was asked on a good day, with the operator's credential, and nothing else", async () => {
    await make({
      [PRICES]: [
        success(PRICE, { json: { a: { usd: 1 } } }),
        success("/none", { json: [] }, "empty:list"),
        success("/broken", { status: 503, text: "" }, "error"),
        success(PRICE, { status: 429, text: "" }, "rate-limit"),
      ],
    });
    stage.live = { "/api/price?ids=a&vs=usd": { body: { a: { usd: 2 } } }, "/api/none": { body: [] } };
    const { report, hasFailed } = await record();
    expect(hasFailed).to.equal(false);
    expect(report.split("\n")).to.deep.equal([
      "gecko/prices.json  success     GET /price?ids=a&vs=usd  same shape",
      "gecko/prices.json  empty:list  GET /none                same shape",
      `2 exchanges: 2 of the same shape, 0 changed, 0 not recorded; written: ${PRICES}`,
    ]);
    expect(stage.asked.map(({ path, headers }) => [path, headers["x-key"]])).to.deep.equal([
      ["/api/price?ids=a&vs=usd", KEY],
      ["/api/none", KEY],
    ]);
  });

  it("asks the whole query again, also behind a question mark in it", async () => {
    await make({ [PRICES]: [success("/search?q=why?&page=2", { json: {} })] });
    stage.live = { "/api/search?q=why%3F&page=2": { body: {} } };
    expect((await record()).report).to.include("1 of the same shape");
  });

  it("writes the new answers, keeps all the rest, and never writes the credential", async () => {
    const error = success(PRICE, { status: 500, text: "no" }, "error");
    const headers = { "x-limit": "30", "x-key": "…", "set-cookie": "…", "x-auth-user": "…", "x-gone": "1" };
    await make({ [PRICES]: [success(PRICE, { headers, json: { usd: 1, list: [] } }), error] });
    const answer = { "x-limit": "10", "x-other": "1", "set-cookie": "s=1", "x-auth-user": "me", "x-key": "k" };
    stage.live = { [`/api${PRICE}`]: { headers: answer, body: { usd: 2.5, list: [] } } };
    await record();
    expect(await read(PRICES)).to.equal(`{
  "source": "a test",
  "exchanges": [
    {
      "case": "success",
      "request": { "method": "GET", "path": "/price?ids=a&vs=usd" },
      "response": { "headers": { "x-limit": "10" }, "json": { "usd": 2.5, "list": [] } }
    },
    {
      "case": "error",
      "request": { "method": "GET", "path": "/price?ids=a&vs=usd" },
      "response": { "status": 500, "text": "no" }
    }
  ]
}
`);
  });

  it("keeps as a text what is recorded as one, also where it looks like JSON", async () => {
    await make({ [PRICES]: [success("/note", { text: "one" }), success("/line", { text: '{"a":1}' })] });
    stage.live = { "/api/note": { body: "two" }, "/api/line": { body: '{"a":2}' } };
    const { report, hasFailed } = await record();
    expect(hasFailed, report).to.equal(false);
    expect(exchangesOf(PRICES).map(({ response }) => response)).to.deep.equal([{ text: "two" }, { text: '{"a":2}' }]);
  });

  it("keeps as a text what has integers that would be rounded", async () => {
    await make({ [PRICES]: [success("/order", { json: { id: 1 } })] });
    stage.live = { "/api/order": { body: '{"id":12345678901234567890}' } };
    await record();
    expect(exchangesOf(PRICES)[0]?.response).to.deep.equal({
      headers: { "content-type": "application/json" },
      text: '{"id":12345678901234567890}',
    });
  });

  it("leaves a file as it is when nothing in it has changed", async () => {
    await make({ [PRICES]: [success(PRICE, { json: { usd: 1 } })] });
    stage.live = { [`/api${PRICE}`]: { body: { usd: 1 } } };
    const before = await read(PRICES);
    expect((await record()).report).to.match(/no file written$/);
    expect(await read(PRICES)).to.equal(before);
  });

  it("shows what has changed in a shape, without control characters, writes the answer, and fails", async () => {
    await make({ [PRICES]: [success(PRICE, { json: { usd: 1, cap: null, gone: 0 } })] });
    stage.live = { [`/api${PRICE}`]: { body: { usd: "1", cap: null, eur: { "sp\r\u202eot": 1 } } } };
    const { report, hasFailed } = await record();
    expect(hasFailed).to.equal(true);
    expect(report.split("\n").slice(0, -1)).to.deep.equal([
      "gecko/prices.json  success  GET /price?ids=a&vs=usd  changed shape",
      "    + eur",
      "    + eur.sp  ot",
      "    - gone",
      "    usd: string, was number",
    ]);
    expect(exchangesOf(PRICES)[0]?.response.json).to.deep.equal({ usd: "1", cap: null, eur: { "sp\r\u202eot": 1 } });
  });

  it("only compares when it is to check", async () => {
    await make({ [PRICES]: [success(PRICE, { json: { usd: 1 } })] });
    stage.live = { [`/api${PRICE}`]: { body: { usd: "1" } } };
    const before = await read(PRICES);
    const { report, hasFailed } = await record({ check: true });
    expect([hasFailed, report.includes("changed shape"), /no file written$/.test(report)]).to.deep.equal([
      true,
      true,
      true,
    ]);
    expect(await read(PRICES)).to.equal(before);
  });

  it("writes lines of at most 120 characters, as the formatter would", async () => {
    const nearly = (length: number): string[] => ["a".repeat(length)];
    const body = {
      one: nearly(98),
      two: nearly(99),
      three: [nearly(103), nearly(103)],
      four: { a: nearly(200), b: {}, c: [] },
    };
    await make({ [PRICES]: [success(PRICE, { json: [] })] });
    stage.live = { [`/api${PRICE}`]: { body } };
    await record();
    const lines = (await read(PRICES)).split("\n");
    expect(lines.filter((line) => line.length === 120)).to.have.length(2);
    expect(lines.filter((line) => line.length > 120)).to.have.length(1);
    expect(exchangesOf(PRICES)[0]?.response.json).to.deep.equal(body);
  });

  it("cuts a long list of changes short", async () => {
    await make({ [PRICES]: [success(PRICE, { json: {} })] });
    const body = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field_${at}`, at]));
    stage.live = { [`/api${PRICE}`]: { body } };
    const lines = (await record({ check: true })).report.split("\n");
    expect(lines).to.have.length(33);
    expect(lines.at(-2)).to.equal("    … and 10 more");
  });

  it("renews a body that lies in a file of its own", async () => {
    const xml = (id: number): string => `<list><file>sanctions-list.xml</file><id>${id}</id></list>`;
    const body = "plugins/screen/recordings/list/list.xml";
    await make({
      [LIST]: [success("", { headers: { "content-type": "text/xml" }, file: "list.xml" })],
      [body]: xml(1),
    });
    stage.live = { "/sanctions-list.xml": { headers: { "content-type": "text/xml" }, body: xml(2) } };
    const { report } = await record();
    expect(report)
      .to.include("list/list.json  success  GET /  same shape")
      .and.match(/written: .*list\.xml$/);
    expect(await read(body)).to.equal(xml(2));
    expect((await record()).report).to.match(/no file written$/);

    stage.live = {
      "/sanctions-list.xml": { headers: { "content-type": "text/xml" }, body: `<list>${" ".repeat(2 ** 20)}</list>` },
    };
    expect((await record()).report).to.include("characters are too many to be kept");
    expect(await read(body)).to.equal(xml(2));
  });

  it("sends a parameter that is repeated as often as it was recorded", async () => {
    const request = { method: "GET", path: "/search?id=a&id=b&x=1" };
    await make({ [PRICES]: [{ case: "success", request, response: { json: { found: 1 } } }] });
    stage.live = { "/api/search?id=a&id=b&x=1": { body: { found: 2 } } };
    expect((await record()).hasFailed).to.equal(false);
    expect(exchangesOf(PRICES)[0]?.response.json).to.deep.equal({ found: 2 });
  });

  it("sends a recorded POST as it stands", async () => {
    const request = { method: "POST", path: "/search", body: { ids: ["a"] } };
    await make({ [PRICES]: [{ case: "success", request, response: { json: {} } }] });
    stage.live = { "/api/search": { body: {} } };
    expect((await record()).hasFailed).to.equal(false);
    expect(stage.asked[0]?.body).to.deep.equal({ ids: ["a"] });
  });
});
