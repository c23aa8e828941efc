import { expect } from "chai";
import { speak } from "../../support/http.ts";
import { openShop, type Shop } from "../../support/sellers/shop.ts";

const HEADERS = [
  "accept",
  "accept-encoding",
  "a2a-extensions",
  "a2a-version",
  "access-control-request-headers",
  "content-encoding",
  "content-type",
  "host",
  "if-none-match",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "origin",
  "payment-signature",
  "sign-in-with-x",
  "x-a2a-exchange",
  "x-forwarded-for",
  "x-payment",
  "x-request-id",
];
/** As many as fit beside the other headers. */
const LENGTH = 15_000;
/** The beginnings of values that a server takes apart. */
const STARTS = ["a", "application/json", "application/json;", "application/json; charset=utf-8", "text/html;q=0.1,"];

describe("a header full of white space", () => {
  let shop: Shop;
  before(async () => {
    shop = await openShop();
  });
  after(() => shop.close());

  /** The CPU time of this process for the quickest of three requests, in milliseconds. */
  async function costOf(target: string, headers: Readonly<Record<string, string>>): Promise<number> {
    const given = { host: "127.0.0.1", "content-type": "application/json", ...headers };
    const lines = Object.entries({ ...given, "content-length": "2", connection: "close" });
    const head = lines.map(([field, text]) => `${field}: ${text}\r\n`).join("");
    let best = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 3; run += 1) {
      const before = process.cpuUsage();
      const answer = await speak(Number(new URL(shop.url).port), `${target} HTTP/1.1\r\n${head}\r\n{}`);
      const { user, system } = process.cpuUsage(before);
      expect(answer).to.match(/^HTTP\/1\.1 (?:2|4(?!31))/); // Not 431: the header was read.
      best = Math.min(best, (user + system) / 1000);
    }
    return best;
  }

  /** The headers that cost far more full of white space than full of letters. */
  async function findDear(target: string, names: readonly string[], others: object = {}): Promise<string[]> {
    const dear: string[] = [];
    for (const name of names)
      for (const start of name === "content-type" ? STARTS : ["a"]) {
        const full = (fill: string): Record<string, string> => ({
          ...others,
          [name]: `${start}${fill.repeat(LENGTH)}b`,
        });
        const usual = Math.max(1, await costOf(target, full("b"))); // The system may count less than it measures.
        if ((await costOf(target, full(" "))) > 20 * usual) dear.push(`${name}: ${start}`);
      }
    return dear;
  }

  for (const target of ["POST /v1/roll", "POST /mcp", "GET /", "OPTIONS /v1/roll"])
    it(`costs ${target} little more than one full of letters`, async () => {
      expect(await findDear(target, HEADERS)).to.deep.equal([]);
    });

  it("costs a call with a payment little more than one full of letters", async () => {
    const payment = { "payment-signature": await shop.pay("/v1/roll") };
    expect(await findDear("POST /v1/roll", ["content-type", "content-encoding"], payment)).to.deep.equal([]);
  });
});
