import { expect } from "chai";
import { CODES, stagePeer } from "../support/peer-stage.ts";
import { BASE_URL } from "./served/support/door.ts";
import type { Message } from "./served/support/peer.ts";

describe("the signed peer door", () => {
  const stage = stagePeer();
  const { isRefused } = stage;

  describe("to an envelope that is not one", () => {
    const without = ({ params, ...message }: Message, name: string) => ({
      ...message,
      params: Object.fromEntries(Object.entries(params).filter(([key]) => key !== name)),
    });

    for (const name of ["aud", "origin", "key_id", "nonce", "exp", "signature_algorithm", "signature"])
      it(`says that ${name} is missing`, () =>
        isRefused(without(stage.peer.seal("peer/hello"), name), CODES.params, new RegExp(`^${name} must be`)));

    const now = (): number => Math.floor(Date.now() / 1000);
    const wrong: readonly [what: string, after: object | (() => object), why: RegExp][] = [
      ["a field that it does not know", { x: 1 }, /"x"/],
      ["an origin in a list", { origin: ["https://peer.example"] }, /^origin must be a string/],
      ["another recipient", { aud: "https://other.example" }, /^aud must be "https:\/\/payphone.example"/],
      ["our address in another spelling", { aud: `${BASE_URL}/` }, /^aud must be/],
      ["an exp that is over", () => ({ exp: now() - 1 }), /^exp is over/],
      ["an exp that is now", () => ({ exp: now() }), /^exp is over/],
      ["an exp too far ahead", () => ({ exp: now() + 900 }), /at most 300 seconds/],
      ["an exp in text", () => ({ exp: String(now() + 60) }), /^exp must be a whole number/],
      ["an exp with a fraction", () => ({ exp: now() + 60.5 }), /^exp must be a whole number/],
      ["a nonce of 7 characters", { nonce: "1234567" }, /^nonce must/],
      ["a nonce of 129 characters", { nonce: "1".repeat(129) }, /^nonce must/],
      ["a nonce with half a surrogate pair", { nonce: "12345678\ud800" }, /^nonce must/],
      ["a nonce that is a number", { nonce: 12_345_678 }, /^nonce must/],
      ["a key_id that is a sentence", { key_id: "payphone hereby certifies" }, /^key_id must/],
      ["a key_id that is empty", { key_id: "" }, /^key_id must/],
      ["a key_id of 65 characters", { key_id: "k".repeat(65) }, /^key_id must/],
      ["a key_id with a line break", { key_id: "key\n" }, /^key_id must/],
      ["another algorithm", { signature_algorithm: "Ed25519" }, /^signature_algorithm must/],
      ["a signature of 63 bytes", { signature: Buffer.alloc(63).toString("base64") }, /^signature must be 64 bytes/],
      ["a signature in base64url", { signature: Buffer.alloc(64, 255).toString("base64url") }, /^signature must/],
      ["a body with a fraction", { body: { amount: 0.5 } }, /numbers in body must be integers/],
      ["a body with a fraction behind what is sound", { body: { count: 1, tax: [2, 0.5] } }, /numbers in body must be/],
      ["a body with an unsafe integer", { body: [2 ** 53] }, /numbers in body must be integers/],
      ["a body with half a surrogate pair", { body: { a: ["\udc00"] } }, /half a surrogate pair/],
      ["a body with half a surrogate pair in a name", { body: { "\ud800": 1 } }, /half a surrogate pair/],
      ["a body of 16 385 bytes", { body: "x".repeat(16_383) }, /16385 bytes.*at most 16384/],
      ["a body of many bytes in few characters", { body: "€".repeat(5_461) }, /16385 bytes/],
      ["a body nested 65 deep", { body: JSON.parse("[".repeat(66) + "]".repeat(66)) }, /nested more than 64/],
    ];
    for (const [what, after, why] of wrong)
      it(`refuses ${what}`, () => {
        const changed = typeof after === "function" ? after() : after;
        return isRefused(stage.peer.seal("peer/hello", { after: changed }), CODES.params, why);
      });

    it("takes one that is as long, as large and as deep as it may be", async () => {
      const bodies = ["x".repeat(16_382), JSON.parse("[".repeat(65) + "]".repeat(65))];
      for (const [at, nonce] of ["12345678", "1".repeat(128)].entries()) {
        const sealed = stage.peer.seal("peer/hello", { body: bodies[at], fields: { nonce } });
        expect(await stage.ask(sealed)).to.have.property("result");
      }
    });

    const origins = [
      "http://peer.example",
      "https://peer.example/",
      "https://Peer.example",
      "https://peer.example:443",
      "https://peer.example:8443",
      "https://peer.example/a",
      "https://peer.example?a",
      "https://peer.example#a",
      "https://user@peer.example",
      "https://127.0.0.1",
      "https://[::1]",
      "https://2130706433",
      "https://0x7f.1",
      "https://1.0x7f",
      "https://127.1",
      "https://localhost",
      "https://peer",
      "https://a.local",
      "https://a.internal",
      "https://a.localhost",
      "https://nas.home.arpa",
      "https://home.arpa",
      "https://peer.example.",
      "https://.example",
      "https://a..example",
      "https://-a.example",
      "https://a-.example",
      "https://a_b.example",
      "https://é.example",
      `https://${"a".repeat(64)}.example`,
      `https://${"a.".repeat(124)}example`,
      "ftp://a.example",
      " https://peer.example",
      "https://peer.example\n",
      "https:peer.example",
      "https:\\\\peer.example",
      "",
      "null",
    ];
    for (const origin of origins)
      it(`refuses the origin ${JSON.stringify(origin.slice(0, 40))}`, () =>
        isRefused(stage.peer.seal("peer/hello", { fields: { origin } }), CODES.params, /^origin must be/));
  });
});
