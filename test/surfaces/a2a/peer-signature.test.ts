import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { toPublicDer } from "../../../runtime/core/peers/identity.ts";
import { CODES, stagePeer } from "../support/peer-stage.ts";
import { BASE_URL } from "./served/support/door.ts";
import { createPeer, toKey } from "./served/support/peer.ts";

describe("the signed peer door", () => {
  const stage = stagePeer();
  const { ask, isRefused } = stage;

  describe("to a signature that does not hold", () => {
    const changed: readonly [what: string, after: () => object][] = [
      ["the body was changed", () => ({ body: { a: 2 } })],
      ["the body was added", () => ({ body: {} })],
      ["the nonce was changed", () => ({ nonce: "another-nonce" })],
      ["the end was put off", () => ({ exp: Math.floor(Date.now() / 1000) + 200 })],
    ];
    for (const [what, after] of changed)
      it(`refuses it when ${what}`, () =>
        isRefused(stage.peer.seal("peer/hello", { after: after() }), CODES.signature, /does not hold/));

    it("refuses it when it was made for another method", () =>
      isRefused({ ...stage.peer.seal("peer/hello"), method: "capabilities/list" }, CODES.signature, /does not hold/));

    it("refuses it when it was made for another recipient, and sent on to us", () =>
      isRefused(
        stage.peer.seal("peer/hello", { fields: { aud: "https://other.example" }, after: { aud: BASE_URL } }),
        CODES.signature,
        /does not hold/,
      ));

    it("refuses it when it was made with another key, or for another of the peer's keys", async () => {
      const thief = createPeer(BASE_URL, { seed: "22".repeat(32) });
      await isRefused(thief.seal("peer/hello"), CODES.signature, /does not hold/);
      const key = { key_id: "second", public_key_der_base64: toPublicDer(toKey("00".repeat(32))) };
      stage.cards[stage.peer.origin] = { extensions: { a: { keys: [key] } } };
      await isRefused(stage.peer.seal("peer/hello", { after: { key_id: "second" } }), CODES.signature, /does not hold/);
    });

    it("refuses it when it was another peer's", async () => {
      stage.cards["https://other.example"] = stage.peer.card;
      const message = stage.peer.seal("peer/hello", { after: { origin: "https://other.example" } });
      await isRefused(message, CODES.signature, /does not hold/);
    });

    it("refuses every message in which one bit was flipped, and still takes the message itself", async () => {
      const { id, ...message } = stage.peer.seal("peer/quote", { body: { skill: "roll" } });
      const text = Buffer.from(JSON.stringify({ ...message, id }));
      const ours = text.indexOf(`"id":"${id}"`) + '"id":"'.length; // The id is the caller's own, and signed by nobody.
      for (let bit = 0; bit < text.length * 8; bit++) {
        if (bit >> 3 === ours) continue;
        const flipped = Buffer.from(text);
        flipped[bit >> 3]! ^= 1 << (bit & 7);
        const { body } = await stage.door.post(flipped.toString());
        expect(body, flipped.toString()).to.have.property("error");
        expect(body.error.code).to.be.oneOf([-32700, -32600, -32601, -32602, -32001, -32004]);
      }
      expect(await ask(text.toString())).to.have.property("result");
    });
  });

  describe("to a peer whose key is not to be had", () => {
    const der = toPublicDer(toKey("00".repeat(32)));
    const entry = { key_id: "peer-2026-01", public_key_der_base64: der };
    const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "der", type: "spki" });

    const good: readonly [shape: string, card: object][] = [
      [
        "as a list in the map of extensions",
        { extensions: { a: { keys: [{ key_id: "x" }, { ...entry, status: "active" }] } } },
      ],
      ["alone in the map of extensions", { extensions: { b: 1, a: entry } }],
      ["as a list in a declared extension", { capabilities: { extensions: [{}, { params: { keys: [entry] } }] } }],
      ["alone in a declared extension", { capabilities: { extensions: [{ uri: "a", params: entry }] } }],
      ["in both places", { extensions: { a: entry }, capabilities: { extensions: [{ params: { keys: [entry] } }] } }],
    ];
    for (const [shape, card] of good)
      it(`finds one that stands ${shape}`, async () => {
        stage.cards[stage.peer.origin] = card;
        expect(await ask(stage.peer.seal("peer/hello"))).to.have.property("result");
      });

    const bad: readonly [what: string, card: unknown, why: RegExp][] = [
      ["the card publishes none", {}, /publishes no key "peer-2026-01"/],
      ["the card is no object", ["a"], /publishes no key/],
      [
        "the card's parts are of other types",
        { extensions: [entry], capabilities: { extensions: entry } },
        /publishes no key/,
      ],
      ["it is retired", { extensions: { a: { ...entry, status: "retired" } } }, /not active/],
      ["its status is no status", { extensions: { a: { ...entry, status: null } } }, /not active/],
      ["one place has retired it", { extensions: { a: entry, b: { ...entry, status: "revoked" } } }, /not active/],
      [
        "its id stands for two keys",
        { extensions: { a: entry, b: { ...entry, public_key_der_base64: toPublicDer(toKey("33".repeat(32))) } } },
        /two keys/,
      ],
      ["it is no text", { extensions: { a: { ...entry, public_key_der_base64: 1 } } }, /no Ed25519 public key/],
      ["it is no DER", { extensions: { a: { ...entry, public_key_der_base64: "AAAA" } } }, /no Ed25519 public key/],
      [
        "it is on another curve",
        { extensions: { a: { ...entry, public_key_der_base64: ec.toString("base64") } } },
        /no Ed25519/,
      ],
      [
        "it is the 101st",
        { extensions: { a: { keys: [...Array(100).fill({ key_id: "a" }), entry] } } },
        /publishes no key/,
      ],
    ];
    for (const [what, card, why] of bad)
      it(`refuses it when ${what}`, async () => {
        stage.cards[stage.peer.origin] = card as object;
        await isRefused(stage.peer.seal("peer/hello"), CODES.card, why);
      });

    it("refuses it when there is no card", async () => {
      delete stage.cards[stage.peer.origin];
      await isRefused(stage.peer.seal("peer/hello"), CODES.card, /No card/);
    });
  });
});
