import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { PeerKeys } from "../../../runtime/core/peers/keys.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { createPeerBudgets } from "../../../runtime/drivers/peers/budgets.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { CODES, stagePeer } from "../support/peer-stage.ts";
import { BASE_URL, BOUNDLESS, openDoor } from "./served/support/door.ts";
import { createPeer, toPeerKeys } from "./served/support/peer.ts";

describe("the signed peer door", () => {
  const stage = stagePeer();
  const { ask, isRefused } = stage;

  describe("to a peer whose signature holds", () => {
    it("says hello: who it is, whom it has verified, and how it signs", async () => {
      const { id, result } = await ask(stage.peer.seal("peer/hello"));
      expect(id).to.equal("1");
      expect(result).to.include({
        agent: "payphone",
        peer_verified: "https://peer.example",
        card_url: `${BASE_URL}/.well-known/agent-card.json`,
        endpoint: `${BASE_URL}/v1/a2a`,
        namespace: "payphone:a2a",
        key_id: "srv-2026-01",
      });
      expect(result.keys).to.deep.equal(stage.door.identity.keys());
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
      const { result } = await ask(stage.peer.seal("capabilities/list", { body: {} }));
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
        expect(await ask(stage.peer.seal("peer/hello", { body })), "a result").to.have.property("result");
    });
  });

  describe("to a repeated request", () => {
    it("executes one of a hundred copies that come at once", async () => {
      const message = stage.peer.seal("peer/quote", { body: { skill: "roll" } });
      const answers = await Promise.all(Array.from({ length: 100 }, () => ask(message)));
      expect(answers.filter(({ result }) => result)).to.have.length(1);
      expect(answers.filter(({ error }) => error?.code === CODES.replay)).to.have.length(99);
      expect([...stage.door.store.entries.keys()].filter((key) => key.startsWith("a2a:exchange:"))).to.have.length(1);
    });

    it("remembers a nonce for 960 seconds, whatever is asked with it", async () => {
      const nonce = "a-nonce-of-ours";
      const fresh = createPeer(BASE_URL, { now: () => stage.door.clock.now() });
      const again = () => fresh.seal("capabilities/list", { fields: { nonce } });
      expect(await ask(fresh.seal("peer/hello", { fields: { nonce } }))).to.have.property("result");
      stage.door.clock.advance(958_000);
      await isRefused(again(), CODES.replay, /nonce/);
      stage.door.clock.advance(4_000);
      expect(await ask(again())).to.have.property("result");
    });

    it("lets each peer have its own nonces, and nobody burn another's", async () => {
      const other = createPeer(BASE_URL, { origin: "https://other.example", seed: "22".repeat(32) });
      stage.cards[other.origin] = other.card;
      const fields = { nonce: "the-same-nonce" };
      await isRefused(stage.peer.seal("peer/hello", { fields, after: { body: 1 } }), CODES.signature, /hold/);
      expect(await ask(other.seal("peer/hello", { fields }))).to.have.property("result");
      expect(await ask(stage.peer.seal("peer/hello", { fields }))).to.have.property("result");
    });
  });

  describe("under its limits", () => {
    it("answers a peer 60 times a minute, and then says when to come back", async () => {
      await stage.reopen();
      for (let at = 0; at < 60; at++) expect(await ask(stage.peer.seal("peer/hello"))).to.have.property("result");
      const { status, headers, body } = await stage.door.post(stage.peer.seal("peer/hello"));
      expect(status).to.equal(429);
      expect(body.error.code).to.equal(CODES.policy);
      expect(Number(headers["retry-after"])).to.be.within(1, 60);
    });

    it("charges a peer neither for copies of its requests nor for what others say in its name", async () => {
      const { peers } = createPeerBudgets(({ seconds }) => createMemoryLimiter({ budget: "two", points: 2, seconds }));
      await stage.reopen({ budgets: { ...BOUNDLESS, peers } });
      const copied = stage.peer.seal("peer/hello");
      expect(await ask(copied)).to.have.property("result");
      for (let at = 0; at < 50; at++) {
        await isRefused(copied, CODES.replay, /nonce/);
        await isRefused(stage.peer.seal("peer/hello", { after: { body: at } }), CODES.signature, /hold/);
      }
      expect(await ask(stage.peer.seal("peer/hello"))).to.have.property("result");
    });

    it("takes 300 requests a minute of one address, whatever they are, and leaves other addresses alone", async () => {
      await stage.reopen();
      const things = [
        "{",
        stage.peer.seal("peer/hello", { after: { aud: "x" } }),
        { jsonrpc: "2.0", id: 1, method: "x" },
      ];
      for (let at = 0; at < 300; at++) expect((await stage.door.post(things[at % 3])).status).to.be.oneOf([200, 400]);
      for (const [message, code] of [
        [stage.peer.seal("peer/hello"), CODES.policy],
        [{ jsonrpc: "2.0", id: 1, method: "tasks/get" }, -42901],
        ["{", -42901],
      ] as const) {
        const { status, headers, body } = await stage.door.post(message);
        expect(status).to.equal(429);
        expect(body.error.code).to.equal(code);
        expect(body.error.data?.code, "the problem document").to.equal(code === -42901 ? "rate-limited" : undefined);
        expect(Number(headers["retry-after"])).to.be.above(0);
      }
      expect((await stage.door.post(stage.peer.seal("peer/hello"), {}, { client: "192.0.2.2" })).body).to.have.property(
        "result",
      );
    });

    it("counts a large body as several requests", async () => {
      await stage.reopen();
      const large = {
        jsonrpc: "2.0",
        id: 1,
        method: "message/send",
        params: { message: { parts: ["x".repeat(1_000_000)] } },
      };
      for (let at = 0; at < 4; at++) expect((await stage.door.post(large)).status).to.equal(200);
      expect((await stage.door.post(large)).status).to.equal(429);
    });

    it("passes on when peers' cards may be fetched again", async () => {
      const busy: PeerKeys = { find: async () => ({ kind: "busy", retryAfter: 9 }) };
      await stage.reopen({ peerKeys: busy });
      const { status, headers, body } = await stage.door.post(stage.peer.seal("peer/hello"));
      expect([status, headers["retry-after"], body.error.code]).to.deep.equal([429, "9", CODES.policy]);
    });
  });

  describe("when something of ours fails", () => {
    it("says that the store cannot be reached, and executes nothing", async () => {
      const store = {
        ...createMemoryStore(),
        putIfAbsent: () => Promise.reject(new Problem("unavailable", "No store")),
      };
      const closed = await openDoor({ peerKeys: toPeerKeys(stage.cards), store });
      const { body, calls } = await closed.post(stage.peer.seal("peer/quote", { body: { skill: "roll" } }));
      expect(body.error).to.deep.equal({ code: -32006, message: "No store" });
      expect(calls[0]?.problem?.code).to.equal("unavailable");
      expect([...store.entries.keys()].filter((key) => key.startsWith("a2a:"))).to.deep.equal([]);
      closed.close();
    });

    it("keeps what it did not expect to itself, and gives it to the log", async () => {
      const broken: PeerKeys = { find: () => Promise.reject(new TypeError("a secret")) };
      const faulty = await openDoor({ peerKeys: broken });
      const { body, calls } = await faulty.post(stage.peer.seal("peer/hello"));
      expect(body.error).to.deep.equal({ code: -32603, message: "Something went wrong on our side" });
      expect(String(calls[0]?.problem?.options.cause)).to.include("a secret");
      faulty.close();
    });
  });
});
