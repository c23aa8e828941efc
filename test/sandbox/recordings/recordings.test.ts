import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Problem } from "../../../runtime/api/problem.ts";
import { toRecordedAnswer } from "../../../runtime/sandbox/recordings/answer.ts";
import { isAnswering, listRecordings, loadRecordings } from "../../../runtime/sandbox/recordings/recordings.ts";
import { makeDirectory, ROOT } from "../../core/set/served-directory.ts";

const PRICES = "plugins/price/recordings/coingecko/prices.json";
const request = { method: "GET", path: "/ping" };
const response = { json: { gecko_says: "(V3) To the Moon!" } };
const exchange = { case: "success", request, response };

const write = (exchanges: unknown, more: Record<string, string> = {}): Promise<string> =>
  makeDirectory({ [PRICES]: JSON.stringify({ source: "the documentation", exchanges }), ...more });

/** The faults that loading reports. */
async function complaintsOf(exchanges: unknown): Promise<string[]> {
  const dir = await write(exchanges);
  try {
    loadRecordings(dir);
  } catch (error) {
    const { code, message } = error as Problem;
    expect(code).to.equal("bad-request");
    return message.split("\n");
  }
  return [];
}

describe("the recordings of a directory", () => {
  it("are found in every plugin, in the order of their paths, under the names of their upstreams", async () => {
    const file = JSON.stringify({ source: "here", exchanges: [exchange] });
    const dir = await makeDirectory({
      "plugins/price/recordings/coingecko/b.json": file,
      "plugins/price/recordings/coingecko/a.json": file,
      "plugins/price/recordings/coingecko/notes.txt": "no recording",
      "plugins/oracle/recordings/llm/yes.json": file,
      "plugins/price/index.ts": "",
    });
    expect(loadRecordings(dir).map(({ file: path, upstream }) => [path, upstream])).to.deep.equal([
      ["plugins/oracle/recordings/llm/yes.json", "llm"],
      ["plugins/price/recordings/coingecko/a.json", "coingecko"],
      ["plugins/price/recordings/coingecko/b.json", "coingecko"],
    ]);
  });

  it("are none where there are no plugins", async () => {
    expect(loadRecordings(await makeDirectory({}))).to.deep.equal([]);
  });

  it("are sound in this project, and record a good day of every upstream that they are of", () => {
    const recordings = loadRecordings(ROOT);
    for (const [upstream, own] of Map.groupBy(recordings, (recording) => recording.upstream))
      expect(own.flatMap(({ exchanges }) => exchanges).some(isAnswering), upstream).to.equal(true);
    expect(recordings).to.have.length(listRecordings(ROOT).length);
  });

  it("take a body from the file beside them, byte by byte", async () => {
    const fromFile = { ...exchange, response: { file: "sdn.xml" } };
    const xml = '<?xml version="1.0"?>\n<sdnList>é</sdnList>\n';
    const dir = await write([fromFile], { "plugins/price/recordings/coingecko/sdn.xml": xml });
    const [recording] = loadRecordings(dir);
    expect(toRecordedAnswer(recording?.exchanges[0] ?? expect.fail(), null).body.toString()).to.equal(xml);
  });

  it("are refused when a body's file is not there, or is no file", async () => {
    const gone = { ...exchange, response: { file: "gone.xml" } };
    expect(await complaintsOf([gone])).to.deep.equal([`${PRICES}: its body gone.xml cannot be read (ENOENT)`]);
    const dir = await write([{ ...exchange, response: { file: "folder" } }]);
    await mkdir(join(dir, "plugins/price/recordings/coingecko/folder"));
    expect(() => loadRecordings(dir)).to.throw("its body folder cannot be read (EISDIR)");
  });

  for (const file of ["../secret.txt", "/etc/hostname", "a/../../b", "..", "sub/body.xml", ".hidden", "a\\b", ""])
    it(`are refused when a body is to come from ${JSON.stringify(file)}, which is not beside them`, async () => {
      const [complaint, ...others] = await complaintsOf([{ ...exchange, response: { file } }]);
      expect(complaint).to.match(
        /^plugins\/price\/recordings\/coingecko\/prices\.json: exchanges\[0\]\.response\.file: /,
      );
      expect(others).to.deep.equal([]);
    });

  it("are refused with the file and the place of every fault at once", async () => {
    const dir = await makeDirectory({
      [PRICES]: '{ "source": "x", }',
      "plugins/price/recordings/coingecko/q.json": JSON.stringify({
        exchanges: [{ case: "sucess", request: { method: "TRACE" }, response: { status: 99, body: "" } }],
      }),
    });
    expect(() => loadRecordings(dir))
      .to.throw()
      .with.property("message")
      .that.equals(
        [
          `${PRICES}: Expected double-quoted property name in JSON at position 17 (line 1 column 18)`,
          "q.json: source: Field required",
          "q.json: exchanges[0].case: String should match pattern '^(success|empty|error|rate-limit|slow|malformed)(:[ -~]+)?$'",
          "q.json: exchanges[0].request: Value error, exactly one of method and path, rpc must be given",
          "q.json: exchanges[0].request.method: Input should be 'GET', 'POST', 'PUT', 'PATCH' or 'DELETE'",
          "q.json: exchanges[0].response: Value error, exactly one of json, text, file, result, rpc_error must be given",
          "q.json: exchanges[0].response.body: Extra inputs are not permitted",
          "q.json: exchanges[0].response.status: Input should be greater than or equal to 200",
        ]
          .map((line) => line.replace(/^q/, "plugins/price/recordings/coingecko/q"))
          .join("\n"),
      );
  });

  const wrong: readonly [string, object][] = [
    ["a request that is both a path and a call", { request: { ...request, rpc: { method: "a", params: [] } } }],
    ["a path that is no path", { request: { method: "GET", path: "ping" } }],
    ["a call without parameters", { request: { rpc: { method: "a" } } }],
    ["an answer without a body", { response: { status: 204 } }],
    ["an answer with two bodies", { response: { json: 1, text: "1" } }],
    ["a header in capitals", { response: { text: "", headers: { "Content-Type": "text/plain" } } }],
    ["an error without a number", { response: { rpc_error: { message: "no" } } }],
    ["a key that nothing reads", { note: "…" }],
  ];
  for (const [what, part] of wrong)
    it(`are refused with ${what}`, async () => {
      expect(await complaintsOf([{ ...exchange, ...part }])).not.to.deep.equal([]);
    });

  it("are refused without any exchange", async () => {
    expect(await complaintsOf([])).to.have.length(1);
  });
});
