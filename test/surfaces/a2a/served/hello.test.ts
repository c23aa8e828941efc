import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { LookupFunction } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import type { PeerConfig } from "../../../../runtime/cli/config/config.ts";
import { runPeerHello, runPeerRotate } from "../../../../runtime/cli/peer/peer.ts";
import { createGuardedFetch, type GuardedFetch } from "../../../../runtime/drivers/http/guarded-fetch.ts";
import { createMemoryLimiter } from "../../../../runtime/drivers/memory-limiter.ts";
import { createPeerBudgets } from "../../../../runtime/drivers/peers/budgets.ts";
import { createPeerCards } from "../../../../runtime/drivers/peers/cards.ts";
import { openIdentity } from "../../../../runtime/drivers/peers/identity.ts";
import { generateIdentityKey } from "../../../../runtime/drivers/peers/identity-keys.ts";
import { openStore } from "../../../../runtime/drivers/store/open-store.ts";
import { listenOnLoopback } from "../../../../runtime/sandbox/json-rpc.ts";
import { createFolder } from "../../../support/folder.ts";
import { withRedis } from "../../../support/programs.ts";
import { startRedis } from "../../../support/store/redis.ts";
import { type ServedDoor, serveDoor } from "./support/serve.ts";
import { TLS, trustTestCertificate } from "./support/tls.ts";

const clock = { now: Date.now };

describe("a payphone that greets another", () => {
  let folder: string;
  let forget: () => void;
  let guarded: GuardedFetch;
  /** https://one.example, whose operator gives the command. */
  let one: ServedDoor;
  /** Who is greeted: it reads the card of the other over TLS, through its own guarded fetch. */
  let two: ServedDoor;

  before(async () => {
    folder = createFolder();
    forget = trustTestCertificate();
    const lookup: LookupFunction = (_hostname, _options, callback) =>
      callback(null, [{ address: "127.0.0.1", family: 4 }]);
    guarded = createGuardedFetch({ lookup, isAllowed: (address) => address === "127.0.0.1" });
    const identity = await openIdentity({ dataDir: folder, clock });
    one = await serveDoor({ publicUrl: "https://one.example", tls: TLS, identity });
    // This machine's port 443 is not ours: the names are as they would be, the ports are where the servers are.
    const fetch: GuardedFetch["fetch"] = (url, request) =>
      guarded.fetch(url.replace("https://one.example/", `https://one.example:${one.port}/`), request);
    const budgets = createPeerBudgets(createMemoryLimiter);
    two = await serveDoor({ budgets, peerKeys: createPeerCards({ web: { fetch }, clock, budgets }) });
  });
  after(async () => {
    await Promise.all([one.close(), two.close(), guarded.close()]);
    forget();
  });

  const CONFIG = (): PeerConfig => ({
    dataDir: folder,
    publicBaseUrl: "https://one.example",
    redisUrl: undefined,
    identityKeys: undefined,
  });
  const say = async (
    command: (terminal: Parameters<typeof runPeerRotate>[1]) => Promise<number>,
    signal = new AbortController().signal,
  ) => {
    const [out, err] = [[] as string[], [] as string[]];
    const code = await command({ out: (text) => void out.push(text), err: (text) => void err.push(text), signal });
    return { code, out: out.join("\n"), err: err.join("\n") };
  };
  const hello = (config = CONFIG(), { url = two.url, json = false } = {}) =>
    say((terminal) => runPeerHello(config, { url, json }, terminal));

  it("is known by the key in its card, and shows who answers", async () => {
    const { code, out, err } = await hello();
    expect([code, err]).to.deep.equal([0, ""]);
    expect(out).to.match(/^agent +payphone$/m);
    expect(out).to.match(/^knows us as +https:\/\/one\.example$/m);
    expect(out).to.match(/^keys +srv-2026-01 \(active\)$/m);
    expect(out).to.match(/^methods +peer\/hello, capabilities\/list, peer\/quote, peer\/receipt$/m);
    expect(out).to.match(/^takes +USDC on eip155:8453$/m);
    expect(one.seen).to.deep.equal(["GET /.well-known/agent-card.json"]);
    expect(two.seen).to.deep.equal(["POST /v1/a2a"]);
  });

  it("gives the answer as it is, to programs", async () => {
    const { code, out } = await hello(CONFIG(), { json: true });
    expect(code).to.equal(0);
    expect(JSON.parse(out)).to.include({
      agent: "payphone",
      peer_verified: "https://one.example",
      endpoint: `${two.url}/v1/a2a`,
    });
  });

  it("is refused under a key that its card does not publish", async () => {
    const { code, out, err } = await hello({ ...CONFIG(), identityKeys: [generateIdentityKey()] });
    expect([code, out]).to.deep.equal([1, ""]);
    expect(err).to.match(/answered 200, -32004: The agent card at https:\/\/one\.example publishes no key/);
  });

  it("makes no identity, which no card could publish yet", async () => {
    const dataDir = join(folder, "elsewhere");
    const { code, err } = await hello({ ...CONFIG(), dataDir });
    expect(code).to.equal(2);
    expect(err).to.include(`There is no identity yet (${join(dataDir, "a2a-identity.json")})`);
    expect(existsSync(dataDir)).to.equal(false);
  });

  it("greets nobody before it has an address where its card can be read", async () => {
    for (const publicBaseUrl of [undefined, "http://127.0.0.1:4021", "https://pay.internal"]) {
      const { code, err } = await hello({ ...CONFIG(), publicBaseUrl });
      expect(code).to.equal(2);
      const found = publicBaseUrl === undefined ? "not set" : `"${publicBaseUrl}"`;
      expect(err).to.include(`PUBLIC_BASE_URL is ${found}, but it must be`);
    }
  });

  it("tells what it met, where no door is", async () => {
    expect((await hello(CONFIG(), { url: "http://127.0.0.1:1" })).err).to.match(/does not answer \(/);
    const { code, err } = await hello(CONFIG(), { url: `${two.url}/elsewhere` });
    expect(code).to.equal(1);
    expect(err).to.match(/answered 404, with nothing that can be read/);
  });

  describe("and is answered with something else than a greeting", () => {
    let answer: string;
    let url: string;
    const liar = createServer((_request, response) =>
      response.setHeader("content-type", "application/json").end(`{"jsonrpc":"2.0","id":1,${answer}}`),
    );
    before(async () => {
      url = await listenOnLoopback(liar);
    });
    after(() => liar.close());

    it("leaves out what is no text", async () => {
      const odd = '{"toString":1}';
      answer = `"result":{"agent":"liar","card_url":${odd},"keys":[null,{"key_id":${odd}}],"methods":[${odd},"a"]}`;
      expect(await hello(CONFIG(), { url })).to.deep.equal({
        code: 0,
        out: "agent        liar\nmethods      a",
        err: "",
      });
      answer = '"result":{}';
      expect((await hello(CONFIG(), { url })).out).to.equal(
        "It says nothing of what a greeting says; --json shows its answer",
      );
    });

    it("takes nothing for a greeting that is no result, or is an error, too", async () => {
      for (const other of ["null", '"hi"', "[]", "0", "false"]) {
        answer = `"result":${other}`;
        const { code, out, err } = await hello(CONFIG(), { url });
        expect([code, out]).to.deep.equal([1, ""]);
        expect(err).to.include("answered 200, with nothing that can be read");
      }
      answer = '"result":{"agent":"liar"},"error":{"code":-32001,"message":"No"}';
      expect(await hello(CONFIG(), { url })).to.deep.include({ code: 1, out: "" });
    });

    it("shows an error without a code, and the beginning of a long one", async () => {
      answer = `"error":{"code":{"toString":1},"message":"no ${"x".repeat(5000)}"}`;
      const { code, err } = await hello(CONFIG(), { url });
      expect([code, err.length]).to.deep.equal([1, `payphone: ${url} answered 200, `.length + 500]);
    });

    it("says so when it is nested too deeply", async () => {
      answer = `"result":{"agent":"liar","methods":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
      for (const json of [false, true])
        expect((await hello(CONFIG(), { url, json })).err).to.include("with nothing that can be read");
    });
  });

  it("signs for the address that was typed, and so is no good at another", async () => {
    const { err } = await hello(CONFIG(), { url: two.url.replace("127.0.0.1", "localhost") });
    expect(err).to.match(/-32602: aud must be "http:\/\/127\.0\.0\.1:\d+"/);
  });

  it("ends when it is told to", async () => {
    const { code, out } = await say(
      (terminal) => runPeerHello(CONFIG(), { url: two.url, json: false }, terminal),
      AbortSignal.abort(),
    );
    expect([code, out]).to.deep.equal([1, ""]);
  });

  it("says when a new key of its own begins to sign, and what is to be done until then", async () => {
    const { code, out, err } = await say((terminal) => runPeerRotate(CONFIG(), terminal));
    expect(code).to.equal(0);
    const at = Date.parse(/from (\S+) on/.exec(out)?.[1] ?? "");
    expect(at - Date.now()).to.be.within(7_190_000, 7_201_000);
    expect(err).to.match(/Restart every server within the hour/);
    expect((await say((terminal) => runPeerRotate(CONFIG(), terminal))).code).to.equal(2);
    expect((await hello()).code, "the old key signs on").to.equal(0);
  });

  withRedis.it("has its key, and the next one, in the Redis that its machines share", async () => {
    const redis = await startRedis();
    const config = { ...CONFIG(), dataDir: createFolder(), redisUrl: redis.url };
    const store = await openStore(config);
    const shared = await openIdentity({ dataDir: config.dataDir, store, clock });
    const { code, err } = await say((terminal) => runPeerRotate(config, terminal));
    expect(code, err).to.equal(0);
    const next = await openIdentity({ dataDir: config.dataDir, store, clock, mustExist: true });
    expect(next.keys()).to.have.length(2);
    expect(next.signer().keyId).to.equal(shared.signer().keyId);
    expect(existsSync(join(config.dataDir, "a2a-identity.json"))).to.equal(false);
    await store.close();
    await redis.stop();
  });
});
