import { expect } from "chai";
import { run } from "./run.ts";
import { PAID, type Seller, startSeller } from "./seller.ts";

describe("payphone call, when the result is a text,", () => {
  let seller: Seller;
  beforeEach(async () => {
    seller = await startSeller();
  });
  afterEach(() => seller.stop());

  for (const [what, type, bytes, shown] of [
    [
      "in the charset that it names",
      'text/csv; charset="ISO-8859-1"',
      Buffer.from("caf\u00e9,1", "latin1"),
      "caf\u00e9,1",
    ],
    ["in UTF-8, where it names none that is known", "text/csv; charset=klingon", Buffer.from("caf\u00e9"), "caf\u00e9"],
    ["and no number, which might lose digits", "text/plain", Buffer.from("1.10"), "1.10"],
    ["or JSON, where it is a mapping", "text/plain", Buffer.from('{"a":1}'), '{"a":1}'],
  ] as const)
    it(`shows it ${what}`, async () => {
      seller.script.answers = [{ ...PAID, text: bytes, headers: { ...PAID.headers, "content-type": type } }];
      const { code, out } = await run({ url: seller.url });
      expect([code, out.replaceAll(/\s/g, "")]).to.deep.equal([0, shown]);
      const { result } = JSON.parse((await run({ url: seller.url, json: true })).out);
      expect(result).to.deep.equal(shown.startsWith("{") ? JSON.parse(shown) : shown);
    });

  it("leaves its tabs and ends of lines, which are part of a table, and nothing else that a terminal obeys", async () => {
    const headers = { ...PAID.headers, "content-type": "text/tab-separated-values" };
    seller.script.answers = [{ ...PAID, text: "a\tb\r\n1\t2\r\nx\ry\u001b[2J\u202ez\n", headers }];
    expect((await run({ url: seller.url })).out).to.equal("a\tb\r\n1\t2\r\nx y [2J z\n");
  });
});
