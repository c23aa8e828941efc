import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import { toPublicDer } from "../../runtime/core/peer-identity.ts";
import type { PeerKeys } from "../../runtime/core/peer-keys.ts";
import { BASE_URL, type Door, openDoor } from "../a2a/support/door.ts";
import { createPeer, type Message, type Peer, toKey, toPeerKeys } from "../a2a/support/peer.ts";
import type { Loose } from "../mcp/support/stall.ts";
import { createMemoryStore } from "../support/memory-store.ts";

const CODES = { params: -32602, signature: -32001, replay: -32002, policy: -32003, card: -32004, notFound: -32005 };
const BOUNDLESS = { take: async () => 0, giveBack: () => {} };

describe("the signed peer door", () => {
  let door: Door;
  let peer: Peer;
  let cards: Record<string, object>;
  beforeEach(async () => {
    peer = createPeer(BASE_URL);
    cards = { [peer.origin]: peer.card };
    door = await openDoor({ peerKeys: toPeerKeys(cards), budgets: { clients: BOUNDLESS, peers: BOUNDLESS } });
  });
  afterEach(() => door.close());

  const ask = async (message: unknown): Promise<Loose> => (await door.post(message)).body;
  const refusal = async (message: unknown): Promise<Loose> => {
    const { status, body, calls } = await door.post(message);
    expect(status).to.equal(200);
    expect(body).to.have.all.keys("jsonrpc", "id", "error");
    expect(calls).to.deep.equal([]);
    return body.error;
  };
  const isRefused = async (message: unknown, code: number, why: RegExp): Promise<void> => {
    const error = await refusal(message);
    expect(error.code, error.message).to.equal(code);
    expect(error.message).to.match(why);
  };

  describe("to a peer whose signature holds", () => {
    it("says hello: who it is, whom it has verified, and how it signs", async () => {
      const { id, result } = await ask(peer.seal("peer/hello"));
      expect(id).to.equal("1");
      expect(result).to.include({
        agent: "payphone",
        peer_verified: "https://peer.example",
        card_url: `${BASE_URL}/.well-known/agent-card.json`,
        endpoint: `${BASE_URL}/v1/a2a`,
        namespace: "payphone:a2a",
        key_id: "srv-2026-01",
      });
      expect(result.keys).to.deep.equal(door.identity.keys());
      expect(result.methods).to.deep.equal(["peer/hello", "capabilities/list", "peer/quote", "peer/receipt"]);
      expect(result.signature.signed_fields).to.have.members([
        "aud",
        "body",
        "exp",
        "key_id",
        "method",
        "nonce",
        "origin",
      ]);
      expect(result.signature).to.include({ algorithm: "ed25519", digest: "sha256-canonical-json" });
      expect(result.policy_digest).to.match(/^sha256:[0-9a-f]{64}$/);
      expect(result.x402).to.deep.equal({
        version: 2,
        facilitator: "https://facilitator.example",
        networks: ["eip155:8453"],
        asset: "USDC",
        discovery_extension: "bazaar",
      });
    });

    it("lists every service as a skill with its address and its price", async () => {
      const { result } = await ask(peer.seal("capabilities/list", { body: {} }));
      expect(result).to.include({ count: 5, payment_is_authorization: true });
      expect(result.skills.map(({ id, price_usd }: Loose) => [id, price_usd])).to.deep.equal([
        ["roll", 0.001],
        ["seal", 1.77],
        ["twin", 0.001],
        ["listing", 0.001],
        ["free", 0],
      ]);
      expect(result.skills[0]).to.include({ url: `${BASE_URL}/v1/roll`, method: "POST" });
      expect(result.x402).to.include({ version: 2, asset: "USDC" });
    });

    it("takes bodies in any script, left out, and of exactly 16 384 bytes", async () => {
      const full = "x".repeat(16_384 - '{"a":""}'.length);
      for (const body of [{ ключ: ["é€😀", -5, true, null] }, undefined, { a: full }])
        expect(await ask(peer.seal("peer/hello", { body })), "a result").to.have.property("result");
    });
  });

  describe("to an envelope that is not one", () => {
    const without = ({ params, ...message }: Message, name: string) => ({
      ...message,
      params: Object.fromEntries(Object.entries(params).filter(([key]) => key !== name)),
    });

    for (const name of ["aud", "origin", "key_id", "nonce", "exp", "signature_algorithm", "signature"])
      it(`says that ${name} is missing`, () =>
        isRefused(without(peer.seal("peer/hello"), name), CODES.params, new RegExp(`^${name} must be`)));

    const wrong: readonly [what: string, after: object, why: RegExp][] = [
      ["a field that it does not know", { x: 1 }, /"x"/],
      ["another recipient", { aud: "https://other.example" }, /^aud must be "https:\/\/payphone.example"/],
      ["our address in another spelling", { aud: `${BASE_URL}/` }, /^aud must be/],
      ["an exp that is over", { exp: Math.floor(Date.now() / 1000) - 1 }, /^exp is over/],
      ["an exp that is now", { exp: Math.floor(Date.now() / 1000) }, /^exp is over/],
      ["an exp too far ahead", { exp: Math.floor(Date.now() / 1000) + 900 }, /at most 300 seconds/],
      ["an exp in text", { exp: String(Math.floor(Date.now() / 1000) + 60) }, /^exp must be a whole number/],
      ["an exp with a fraction", { exp: Date.now() / 1000 + 60.5 }, /^exp must be a whole number/],
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
      ["a body with an unsafe integer", { body: [2 ** 53] }, /numbers in body must be integers/],
      ["a body with half a surrogate pair", { body: { a: ["\udc00"] } }, /half a surrogate pair/],
      ["a body with half a surrogate pair in a name", { body: { "\ud800": 1 } }, /half a surrogate pair/],
      ["a body of 16 385 bytes", { body: "x".repeat(16_383) }, /16385 bytes.*at most 16384/],
      ["a body of many bytes in few characters", { body: "€".repeat(5_461) }, /16385 bytes/],
      ["a body nested 65 deep", { body: JSON.parse("[".repeat(66) + "]".repeat(66)) }, /nested more than 64/],
    ];
    for (const [what, after, why] of wrong)
      it(`refuses ${what}`, () => isRefused(peer.seal("peer/hello", { after }), CODES.params, why));

    const origins = [
      ...["http://peer.example", "https://peer.example/", "https://Peer.example", "https://peer.example:443"],
      ...["https://peer.example:8443", "https://peer.example/a", "https://peer.example?a", "https://peer.example#a"],
      ...["https://user@peer.example", "https://127.0.0.1", "https://[::1]", "https://2130706433", "https://0x7f.1"],
      ...[
        "https://1.0x7f",
        "https://127.1",
        "https://localhost",
        "https://peer",
        "https://a.local",
        "https://a.internal",
      ],
      ...[
        "https://a.localhost",
        "https://nas.home.arpa",
        "https://home.arpa",
        "https://peer.example.",
        "https://.example",
      ],
      ...["https://a..example", "https://-a.example", "https://a-.example", "https://a_b.example", "https://é.example"],
      ...[`https://${"a".repeat(64)}.example`, `https://${"a.".repeat(124)}example`, "ftp://a.example"],
      ...[
        " https://peer.example",
        "https://peer.example\n",
        "https:peer.example",
        "https:\\\\peer.example",
        "",
        "null",
      ],
    ];
    for (const origin of origins)
      it(`refuses the origin ${JSON.stringify(origin.slice(0, 40))}`, () =>
        isRefused(peer.seal("peer/hello", { fields: { origin } }), CODES.params, /^origin must be/));
  });

  describe("to a signature that does not hold", () => {
    const changed: readonly [what: string, after: () => object][] = [
      ["the body was changed", () => ({ body: { a: 2 } })],
      ["the body was added", () => ({ body: {} })],
      ["the nonce was changed", () => ({ nonce: "another-nonce" })],
      ["the end was put off", () => ({ exp: Math.floor(Date.now() / 1000) + 200 })],
    ];
    for (const [what, after] of changed)
      it(`refuses it when ${what}`, () =>
        isRefused(peer.seal("peer/hello", { after: after() }), CODES.signature, /does not hold/));

    it("refuses it when it was made for another method", () =>
      isRefused({ ...peer.seal("peer/hello"), method: "capabilities/list" }, CODES.signature, /does not hold/));

    it("refuses it when it was made for another recipient, and sent on to us", () =>
      isRefused(
        peer.seal("peer/hello", { fields: { aud: "https://other.example" }, after: { aud: BASE_URL } }),
        CODES.signature,
        /does not hold/,
      ));

    it("refuses it when it was made with another key, or for another of the peer's keys", async () => {
      const thief = createPeer(BASE_URL, { seed: "22".repeat(32) });
      await isRefused(thief.seal("peer/hello"), CODES.signature, /does not hold/);
      const key = { key_id: "second", public_key_der_base64: toPublicDer(toKey("00".repeat(32))) };
      cards[peer.origin] = { extensions: { a: { keys: [key] } } };
      await isRefused(peer.seal("peer/hello", { after: { key_id: "second" } }), CODES.signature, /does not hold/);
    });

    it("refuses it when it was another peer's", async () => {
      cards["https://other.example"] = peer.card;
      const message = peer.seal("peer/hello", { after: { origin: "https://other.example" } });
      await isRefused(message, CODES.signature, /does not hold/);
    });

    it("refuses every message in which one bit was flipped, and still takes the message itself", async () => {
      const { id, ...message } = peer.seal("peer/quote", { body: { skill: "roll" } });
      const text = Buffer.from(JSON.stringify({ ...message, id }));
      const ours = text.indexOf(`"id":"${id}"`) + '"id":"'.length; // The id is the caller's own, and signed by nobody.
      for (let bit = 0; bit < text.length * 8; bit++) {
        if (bit >> 3 === ours) continue;
        const flipped = Buffer.from(text);
        flipped[bit >> 3]! ^= 1 << (bit & 7);
        const { body } = await door.post(flipped.toString());
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
        cards[peer.origin] = card;
        expect(await ask(peer.seal("peer/hello"))).to.have.property("result");
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
        cards[peer.origin] = card as object;
        await isRefused(peer.seal("peer/hello"), CODES.card, why);
      });

    it("refuses it when there is no card", async () => {
      delete cards[peer.origin];
      await isRefused(peer.seal("peer/hello"), CODES.card, /No card/);
    });
  });

  describe("to a repeated request", () => {
    it("executes one of a hundred copies that come at once", async () => {
      const message = peer.seal("peer/quote", { body: { skill: "roll" } });
      const answers = await Promise.all(Array.from({ length: 100 }, () => ask(message)));
      expect(answers.filter(({ result }) => result)).to.have.length(1);
      expect(answers.filter(({ error }) => error?.code === CODES.replay)).to.have.length(99);
      expect([...door.store.entries.keys()].filter((key) => key.startsWith("a2a:exchange:"))).to.have.length(1);
    });

    it("remembers a nonce for 960 seconds, whatever is asked with it", async () => {
      const nonce = "a-nonce-of-ours";
      const fresh = createPeer(BASE_URL, { now: () => door.clock.now() });
      const again = () => fresh.seal("capabilities/list", { fields: { nonce } });
      expect(await ask(fresh.seal("peer/hello", { fields: { nonce } }))).to.have.property("result");
      door.clock.advance(958_000);
      await isRefused(again(), CODES.replay, /nonce/);
      door.clock.advance(4_000);
      expect(await ask(again())).to.have.property("result");
    });

    it("lets each peer have its own nonces, and nobody burn another's", async () => {
      const other = createPeer(BASE_URL, { origin: "https://other.example", seed: "22".repeat(32) });
      cards[other.origin] = other.card;
      const fields = { nonce: "the-same-nonce" };
      await isRefused(peer.seal("peer/hello", { fields, after: { body: 1 } }), CODES.signature, /hold/);
      expect(await ask(other.seal("peer/hello", { fields }))).to.have.property("result");
      expect(await ask(peer.seal("peer/hello", { fields }))).to.have.property("result");
    });
  });

  describe("under its limits", () => {
    const limited = async (options = {}): Promise<void> => {
      door.close();
      door = await openDoor({ peerKeys: toPeerKeys(cards), ...options });
    };

    it("answers a peer 60 times a minute, and then says when to come back", async () => {
      await limited();
      for (let at = 0; at < 60; at++) expect(await ask(peer.seal("peer/hello"))).to.have.property("result");
      const { status, headers, body } = await door.post(peer.seal("peer/hello"));
      expect(status).to.equal(429);
      expect(body.error.code).to.equal(CODES.policy);
      expect(Number(headers["retry-after"])).to.be.within(1, 60);
    });

    it("charges a peer neither for copies of its requests nor for what others say in its name", async () => {
      await limited({
        budgets: { clients: BOUNDLESS, peers: (await import("../../runtime/drivers/peer-budgets.ts")).createBudget(2) },
      });
      const copied = peer.seal("peer/hello");
      expect(await ask(copied)).to.have.property("result");
      for (let at = 0; at < 50; at++) {
        await isRefused(copied, CODES.replay, /nonce/);
        await isRefused(peer.seal("peer/hello", { after: { body: at } }), CODES.signature, /hold/);
      }
      expect(await ask(peer.seal("peer/hello"))).to.have.property("result");
    });

    it("takes 300 requests a minute of one address, whatever they are, and leaves other addresses alone", async () => {
      await limited();
      const things = ["{", peer.seal("peer/hello", { after: { aud: "x" } }), { jsonrpc: "2.0", id: 1, method: "x" }];
      for (let at = 0; at < 300; at++) expect((await door.post(things[at % 3])).status).to.be.oneOf([200, 400]);
      for (const [message, code] of [
        [peer.seal("peer/hello"), CODES.policy],
        [{ jsonrpc: "2.0", id: 1, method: "tasks/get" }, -42901],
        ["{", -42901],
      ] as const) {
        const { status, headers, body } = await door.post(message);
        expect(status).to.equal(429);
        expect(body.error.code).to.equal(code);
        expect(Number(headers["retry-after"])).to.be.above(0);
      }
      expect((await door.post(peer.seal("peer/hello"), {}, { client: "192.0.2.2" })).body).to.have.property("result");
    });

    it("counts a large body as several requests", async () => {
      await limited();
      const large = {
        jsonrpc: "2.0",
        id: 1,
        method: "message/send",
        params: { message: { parts: ["x".repeat(1_000_000)] } },
      };
      for (let at = 0; at < 4; at++) expect((await door.post(large)).status).to.equal(200);
      expect((await door.post(large)).status).to.equal(429);
    });

    it("passes on when peers' cards may be fetched again", async () => {
      const busy: PeerKeys = { find: async () => ({ kind: "busy", retryAfter: 9 }) };
      await limited({ peerKeys: busy });
      const { status, headers, body } = await door.post(peer.seal("peer/hello"));
      expect([status, headers["retry-after"], body.error.code]).to.deep.equal([429, "9", CODES.policy]);
    });
  });

  describe("when something of ours fails", () => {
    it("says that the store cannot be reached, and executes nothing", async () => {
      const store = {
        ...createMemoryStore(),
        putIfAbsent: () => Promise.reject(new Problem("unavailable", "No store")),
      };
      const closed = await openDoor({ peerKeys: toPeerKeys(cards), store });
      const { body, calls } = await closed.post(peer.seal("peer/quote", { body: { skill: "roll" } }));
      expect(body.error).to.deep.equal({ code: -32006, message: "No store" });
      expect(calls[0]?.problem?.code).to.equal("unavailable");
      expect([...store.entries.keys()].filter((key) => key.startsWith("a2a:"))).to.deep.equal([]);
      closed.close();
    });

    it("keeps what it did not expect to itself, and gives it to the log", async () => {
      const broken: PeerKeys = { find: () => Promise.reject(new TypeError("a secret")) };
      const faulty = await openDoor({ peerKeys: broken });
      const { body, calls } = await faulty.post(peer.seal("peer/hello"));
      expect(body.error).to.deep.equal({ code: -32603, message: "Something went wrong on our side" });
      expect(String(calls[0]?.problem?.options.cause)).to.include("a secret");
      faulty.close();
    });
  });
});
