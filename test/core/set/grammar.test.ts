import { expect } from "chai";
import { explainPattern } from "../../../runtime/core/schema/pattern.ts";
import { nearest } from "../../../runtime/core/set/did-you-mean.ts";
import { explainRoute, isReserved, overlaps, parametersOf, parseRoute } from "../../../runtime/core/set/route.ts";

describe("a route", () => {
  it("is a method, a space and a path of plain segments and parameters", () => {
    expect(parseRoute("GET /v1/jobs/{job_id}/log.txt")).to.deep.equal({
      method: "GET",
      path: "/v1/jobs/{job_id}/log.txt",
    });
    expect(parametersOf("/v1/{chain}/tx/{hash}")).to.deep.equal(["chain", "hash"]);
  });

  it("is nothing else", () => {
    const wrong = [
      "",
      "/v1/x",
      "GET",
      "get /v1/x",
      "GET /v1/x ",
      " GET /v1/x",
      "GET\t/v1/x",
      "GET /v1/x?y=1",
      "GET /v1/x#y",
    ];
    const tricks = [
      "GET //x",
      "GET /a//b",
      "GET /a/../b",
      "GET /a/.",
      "GET /a%2fb",
      "GET /a/*",
      "GET /a/:b",
      "GET /a/{b}c",
    ];
    const more = ["GET /a/{}", "GET /a/{b", "GET /a/{B}", "GET /ä", "GET /a\n", `GET /${"a".repeat(200)}`];
    for (const text of [...wrong, ...tricks, ...more]) expect(explainRoute(text), text).to.be.a("string");
  });

  it("overlaps another where one request could match both", () => {
    expect(overlaps("/v1/{a}/x", "/v1/b/{c}")).to.equal(true);
    expect(overlaps("/v1/a", "/v1/a/b")).to.equal(false);
    expect(overlaps("/v1/a/x", "/v1/{b}/y")).to.equal(false);
  });

  it("is reserved where payphone answers, or would if a parameter had that value", () => {
    const own = [
      "/",
      "/health",
      "/docs",
      "/docs/x/y",
      "/reports/{x}/y",
      "/.well-known/x",
      "/v1/a2a",
      "/mcp",
      "/{x}",
      "/{x}/agent.json",
    ];
    for (const path of own) expect(isReserved(path), path).to.equal(true);
    for (const path of ["/v1/roll", "/health/x", "/v1/{x}/y", "/documents"])
      expect(isReserved(path), path).to.equal(false);
  });
});

describe("a pattern of a schema", () => {
  const SAFE = [
    "^[0-9a-fA-F]{64}$",
    "^(0x)?[0-9a-f]{64}$",
    "^.+\\.(eth|sol)$",
    "/roll/v1$",
    "^(?:[0-9a-f]{2})+$",
    "^\\p{L}{1,30}$",
    "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2})?)?$",
    "^[^)|(\\]]+$",
    "^(?<year>\\d+)$",
    "^a|^b",
    "^a{2,}$",
    "^[\\s\\S]{1,100000}$",
    "^.{4096}$",
    "[0-9a-f]{128}",
    "(?:[0-9a-f]{4}:|[0-9A-F]{4}:){4}",
    "",
  ];
  const UNSAFE = [
    "^(a+)+$",
    "^(a|a)*$",
    "^(a|aa){1,40}$",
    "(x+x+)+y",
    "^(.*a){12}$",
    "^a*a*$",
    "a+$",
    "^(.)\\1+$",
    "^(?:a?){40}a{40}$",
    "^([a-z]+\\.)*[a-z]+$",
    "^(?:(?:a{0,99}){0,99}){0,99}$",
    "a{30000}b",
    "^a*a{30000}b",
    "^a*(?:a{100}){300}b",
    "^(?:(?=a{9999})a)*$",
  ];
  for (const source of SAFE) it(`is safe as ${source}`, () => expect(explainPattern(source)).to.equal(undefined));
  for (const source of UNSAFE)
    it(`is refused as ${source}`, () => expect(explainPattern(source)).to.match(/^a hostile text can keep it busy/));

  it("may have two unbounded parts where the text is short", () => {
    expect(explainPattern("^[a-z]+-[a-z]+$")).to.be.a("string");
    expect(explainPattern("^[a-z]+-[a-z]+$", 500)).to.equal(undefined);
  });

  it("must be a regular expression", () => {
    expect(explainPattern("^[a-z")).to.equal("is no regular expression: Unterminated character class");
  });
});

describe("the nearest known word", () => {
  const WORDS = ["title", "tags", "route", "description", "RollRequest"];
  it("is found for a typing error", () => {
    for (const [slip, word] of Object.entries({
      titel: "title",
      tag: "tags",
      ROUTE: "route",
      RolRequst: "RollRequest",
    }))
      expect(nearest(slip, WORDS), slip).to.equal(word);
  });

  it("is not guessed for a word that is too different", () => {
    for (const word of ["colour", "", "x", "requests"]) expect(nearest(word, WORDS), word).to.equal(undefined);
  });

  it("is not sought letter by letter for a word that is far too long", () => {
    const read: unknown[] = [];
    const letters = new Proxy(Array(100).fill("x"), {
      get(all, key) {
        read.push(key);
        return Reflect.get(all, key);
      },
    });
    const word: unknown = { length: 100, toLowerCase: () => letters };
    expect(nearest(word as string, WORDS)).to.equal(undefined);
    expect(read).to.deep.equal([]);
  });
});
