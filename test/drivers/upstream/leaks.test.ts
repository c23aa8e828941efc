import { expect } from "chai";
import { createLeakCheck } from "../../../runtime/drivers/upstream/leaks.ts";

describe("an answer that repeats a credential", () => {
  const repeats = createLeakCheck({ headers: { "x-api-key": "secret/key-42" } }, []);
  const texts: Readonly<Record<string, Buffer>> = {
    "as it is": Buffer.from('{"seen":"secret/key-42"}'),
    "with escapes": Buffer.from('{"seen":"\\u0073ecret\\/key-42"}'),
    "in a URL": Buffer.from('{"next":"/list?key=secret%2Fkey-42&page=2"}'),
    "in a URL with small letters": Buffer.from('{"next":"/list?key=secret%2fkey-42&page=2"}'),
    "in a URL with more escapes than are needed": Buffer.from('{"next":"/list?a=1\\u0026key=secret%2fkey%2D42"}'),
    "in UTF-16": Buffer.from('{"seen":"secret/key-42"}', "utf16le"),
  };
  for (const [how, answer] of Object.entries(texts))
    it(`is recognized: ${how}`, () => {
      expect(repeats(answer)).to.equal(true);
    });

  it("is recognized where a Basic credential is a key without a password, but not a user's name beside one", () => {
    const isFound = (credential: string): boolean => {
      const authorization = `Basic ${Buffer.from(credential).toString("base64")}`;
      return createLeakCheck({ headers: { authorization } }, [])(Buffer.from('{"seen":"sk-key-42"}'));
    };
    expect(["sk-key-42:", "ann:sk-key-42", "sk-key-42:password-7"].map(isFound)).to.deep.equal([true, true, false]);
  });

  it("is not taken for one that has other bytes", () => {
    expect(repeats(Buffer.from('{"seen":"secret/key-43"}', "utf16le"))).to.equal(false);
  });
});
