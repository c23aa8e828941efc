import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { problemOf } from "../../plugins/host.ts";
import { type Bench, NEVER, openBench } from "../../support/sources/live-upstream.ts";
import { breaks, hangs, stalls } from "../../support/sources/scripted-source.ts";

const SECRET = "k-5f1c9e";

describe("an upstream", () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await openBench();
  });
  afterEach(() => bench.close());

  it("is asked below its URL, with what a plugin adds to the query", async () => {
    const upstream = bench.open({ url: `${bench.source.url}/api/v3/?plan=free` });
    await upstream.get("/simple/price", { query: { ids: "a b", page: undefined, vs: "usd" }, signal: NEVER });
    await upstream.get("coins", { signal: NEVER });
    await upstream.get("", { signal: NEVER });
    expect(bench.source.asked.map(({ path }) => path)).to.deep.equal([
      "/api/v3/simple/price?plan=free&ids=a+b&vs=usd",
      "/api/v3/coins?plan=free",
      "/api/v3/?plan=free",
    ]);
  });

  for (const path of ["../admin", "/tokens/../../admin", "/a/%2e%2e/b", "/a\\..\\b", "/a?b=c", "/a#b"])
    it(`is never asked for ${path}, which leads elsewhere`, async () => {
      const upstream = bench.open({ url: `${bench.source.url}/api` });
      const error = await upstream.get(path, { signal: NEVER }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(RangeError);
      expect(bench.source.asked).to.deep.equal([]);
    });

  for (const [name, value] of [
    ["x-city", "東京"],
    ["x-city", "a\r\nhost: b"],
    ["x city", "a"],
  ] as const)
    it(`is neither asked nor held for down for the header ${JSON.stringify(name)} with ${JSON.stringify(value)}`, async () => {
      const upstream = bench.open();
      for (let call = 0; call < 6; call += 1) {
        const asking = upstream.get("", { headers: { [name]: value }, signal: NEVER });
        expect(await asking.catch((thrown: unknown) => thrown)).to.be.instanceOf(TypeError);
      }
      expect(bench.source.asked).to.deep.equal([]);
      expect((await upstream.get("", { signal: NEVER })).status).to.equal(200);
      expect(bench.lines).to.deep.equal([]);
    });

  it("gives the body as text and as JSON, and any status that is no failure", async () => {
    bench.source.script({ status: 404, headers: { "x-page": "2" }, body: '{"error":"ü"}' });
    const answer = await bench.open().get("/coins/none", { signal: NEVER });
    expect([answer.status, answer.text, answer.json()]).to.deep.equal([404, '{"error":"ü"}', { error: "ü" }]);
    expect([answer.headers.get("X-Page"), answer.headers.get("etag")]).to.deep.equal(["2", null]);
  });

  it("is sent JSON by a post", async () => {
    await bench.open().post("/ask", { wanted: ["a"] }, { headers: { Accept: "text/plain" }, signal: NEVER });
    const [asked] = bench.source.asked;
    expect(asked?.method).to.equal("POST");
    expect(asked?.body).to.equal('{"wanted":["a"]}');
    expect(asked?.headers).to.include({ "content-type": "application/json", accept: "text/plain" });
  });

  it("is told its credentials, which a plugin cannot replace", async () => {
    const url = bench.source.url.replace("//", "//user:p%40ss@");
    const upstream = bench.open({ url, headers: { "X-Api-Key": SECRET } });
    await upstream.get("", { headers: { "x-api-key": "mine", authorization: "mine" }, signal: NEVER });
    expect(bench.source.asked[0]?.headers).to.include({
      "x-api-key": SECRET,
      authorization: `Basic ${Buffer.from("user:p@ss").toString("base64")}`,
    });
  });

  it("says which variable to set when nobody has said where it is", async () => {
    const upstream = bench.open({ url: undefined });
    const { code, message } = await problemOf(upstream.rpc("eth_chainId", [], { signal: NEVER }));
    expect([code, message]).to.deep.equal(["unavailable", "Source needs SOURCE_URL, which is not set"]);
    expect(upstream.status()).to.deep.equal({ state: "down", reason: message });
  });

  it("fails when an answer that should be JSON is none, without repeating its words", async () => {
    bench.source.script("<html>who are you</html>");
    const answer = await bench.open().get("", { signal: NEVER });
    const { code, message, cause } = await problemOf((async () => answer.json())());
    expect([code, message]).to.deep.equal(["upstream-failed", "Source answered with what is no JSON (status 200)"]);
    expect(cause).to.equal(undefined);
  });

  it("is not read beyond the bytes that a plugin takes", async () => {
    bench.source.script("x".repeat(1001));
    const upstream = bench.open();
    const { code, message } = await problemOf(upstream.get("", { maxBytes: 1000, signal: NEVER }));
    expect([code, message]).to.deep.equal(["upstream-failed", "Source answered with more than 1000 bytes"]);
    expect(bench.source.asked, "a repetition would not be smaller").to.have.length(1);
    expect((await upstream.get("", { maxBytes: 1001, signal: NEVER })).text).to.have.length(1001);
  });

  it("is not read beyond 2 MB unless a plugin says so", async () => {
    const megabytes = 2 * 1024 * 1024;
    bench.source.script("x".repeat(megabytes), "x".repeat(megabytes + 1));
    const upstream = bench.open();
    expect((await upstream.get("", { signal: NEVER })).text).to.have.length(megabytes);
    expect((await problemOf(upstream.get("", { signal: NEVER }))).code).to.equal("upstream-failed");
  });

  it("ends with the reason of its caller's signal", async () => {
    bench.source.script(hangs);
    const caller = new AbortController();
    const asking = bench.open().get("", { signal: caller.signal });
    caller.abort(new Error("gone"));
    expect(await asking.catch(({ message }: Error) => message)).to.equal("gone");
  });

  for (const [what, line] of Object.entries({ hangs, stalls, breaks, "answers 500": 500, "asks for a pause": 429 }))
    it(`never shows its URL, its key or its words when it ${what}`, async () => {
      bench.source.script(line);
      const upstream = bench.open({
        url: `${bench.source.url.replace("//", `//me:${SECRET}@`)}/v1/${SECRET}?key=${SECRET}`,
        headers: { "x-api-key": SECRET },
        timeoutMs: 30,
        retries: 0,
      });
      const problem = await problemOf(upstream.get(`/${SECRET}`, { signal: NEVER }));
      expect(problem.code).to.equal("upstream-failed");
      expect(problem.message).to.match(/^Source [a-z]/);
      for (let error: unknown = problem; error instanceof Error; error = error.cause)
        expect(`${error.message} ${error instanceof Problem ? JSON.stringify(error) : ""}`)
          .not.to.include(SECRET)
          .and.not.to.include("127.0.0.1");
    });
});
