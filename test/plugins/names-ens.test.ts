import { createServer, type IncomingMessage, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { base58 } from "@scure/base";
import { expect } from "chai";
import { encodeAbiParameters } from "viem";
import wallet from "../../plugins/wallet/index.ts";
import type { Hex, Host } from "../../runtime/api/plugin.ts";
import { createGuardedFetch } from "../../runtime/drivers/guarded-fetch.ts";
import { closeServer, listenOnLoopback } from "../../runtime/sandbox/json-rpc.ts";
import { type Ens, startEns } from "../support/ens.ts";
import { createHost, faultsOf, NOW, problemOf, type Serve, serve } from "./host.ts";

const ALICE = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const BOB = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const DAY = 86_400;
const now = NOW / 1000;
const later = now + 365 * DAY;

describe("a .eth name", () => {
  let ens: Ens;
  let resolve: Serve;

  before(async () => {
    ens = await startEns();
  });
  after(() => ens.stop());
  beforeEach(async () => {
    resolve = await serveNames();
  });

  const serveNames = (overrides: Partial<Host> = {}): Promise<Serve> =>
    serve("resolve_name", wallet, createHost(overrides, { urls: { ethereum: ens.url, solana: ens.url } }));

  /** A name that is registered, and has a resolver that answers. */
  async function register(name: string, { expiry = later, ttl = 0 } = {}): Promise<void> {
    await ens.setExpiry(name.split(".").at(-2) ?? "", expiry);
    await ens.setResolver(name, ens.places.EnsResolver, ttl);
  }

  it("leads to the address that its owner has set", async () => {
    await register("alice.eth");
    await ens.setAddress("alice.eth", ALICE);
    expect(await resolve({ name: "alice.eth" })).to.deep.equal({
      name: "alice.eth",
      addresses: [{ chain: "ethereum", address: ALICE, ttl_hint_seconds: 300 }],
      resolved_at: now,
      registry_used: "ENS",
      supported_tlds: [".eth", ".sol"],
      notes: null,
    });
  });

  it("is the same name in whatever case and with white space around it", async () => {
    const { name, addresses } = await resolve({ name: " ALICE.eth\n" });
    expect(name).to.equal("alice.eth");
    expect(addresses).to.have.length(1);
  });

  it("leads to Solana, too, where its owner has set that", async () => {
    const key = base58.encode(Buffer.alloc(32, 7));
    await register("both.eth", { ttl: 3600 });
    await ens.setAddress("both.eth", ALICE);
    await ens.setCoin("both.eth", 501, `0x${"07".repeat(32)}`);
    const { addresses, notes } = await resolve({ name: "both.eth" });
    expect(addresses).to.deep.equal([
      { chain: "ethereum", address: ALICE, ttl_hint_seconds: 3600 },
      { chain: "solana", address: key, ttl_hint_seconds: 3600 },
    ]);
    expect(notes).to.equal(null);
  });

  it("does not lead to what is no Solana key", async () => {
    await register("odd.eth", { ttl: 400 * DAY });
    await ens.setAddress("odd.eth", ALICE);
    await ens.setCoin("odd.eth", 501, "0x0707");
    const { addresses } = await resolve({ name: "odd.eth" });
    expect(addresses).to.deep.equal([{ chain: "ethereum", address: ALICE, ttl_hint_seconds: DAY }]);
  });

  it("leads nowhere when it is not registered", async () => {
    const { addresses, notes, registry_used } = await resolve({ name: "nobodys-name.eth" });
    expect(addresses).to.deep.equal([]);
    expect(notes).to.equal("nobodys-name.eth is not registered.");
    expect(registry_used).to.equal("ENS");
  });

  it("leads nowhere when its owner has set no address, no resolver, or a resolver that is none", async () => {
    await register("blank.eth");
    await ens.setExpiry("unset", later);
    await ens.setExpiry("broken", later);
    await ens.setResolver("broken.eth", BOB);
    for (const name of ["blank.eth", "unset.eth", "broken.eth"]) {
      const { addresses, notes } = await resolve({ name });
      expect(addresses, name).to.deep.equal([]);
      expect(notes, name).to.equal(`${name} gives no address.`);
    }
  });

  it("leads nowhere once it has expired, whatever its records still say", async () => {
    await register("lapsed.eth", { expiry: now - 91 * DAY });
    await ens.setAddress("lapsed.eth", ALICE);
    await ens.setResolver("pay.lapsed.eth", ens.places.EnsResolver);
    await ens.setAddress("pay.lapsed.eth", ALICE);
    for (const name of ["lapsed.eth", "pay.lapsed.eth"]) {
      const { addresses, notes } = await resolve({ name });
      expect(addresses, name).to.deep.equal([]);
      expect(notes).to.match(/^lapsed\.eth expired on 2026-10-16: its records are a former owner's/);
    }
  });

  it("comes with a warning while only its last owner can renew it", async () => {
    await register("late.eth", { expiry: now - 89 * DAY });
    await ens.setAddress("late.eth", ALICE);
    const { addresses, notes } = await resolve({ name: "late.eth" });
    expect(addresses).to.deep.equal([{ chain: "ethereum", address: ALICE, ttl_hint_seconds: 300 }]);
    expect(notes).to.match(/^Beware: late\.eth expired on 2026-10-18\. Until 2027-01-16 its last owner alone/);
  });

  it("is the newer registry's business once it has moved there", async () => {
    await register("moved.eth", { expiry: now - 200 * DAY });
    await ens.setAddress("moved.eth", ALICE);
    await ens.setWildcard(BOB);
    await ens.setSuccessor("moved.eth", ens.places.EnsWildcard);
    const { addresses, notes } = await resolve({ name: "moved.eth" });
    expect(addresses).to.deep.equal([{ chain: "ethereum", address: BOB, ttl_hint_seconds: 300 }]);
    expect(notes).to.equal(null);
  });

  it("is answered by a resolver of the name above it, if that takes names below", async () => {
    await ens.setWildcard(BOB);
    await register("wild.eth");
    await ens.setResolver("wild.eth", ens.places.EnsWildcard);
    const { addresses } = await resolve({ name: "some.thing.wild.eth" });
    expect(addresses).to.deep.equal([{ chain: "ethereum", address: BOB, ttl_hint_seconds: 300 }]);
    await register("plain.eth");
    await ens.setAddress("plain.eth", ALICE);
    expect((await resolve({ name: "sub.plain.eth" })).addresses).to.deep.equal([]);
  });

  it("leads nowhere when its resolver refuses", async () => {
    await ens.setWildcard("0x0000000000000000000000000000000000000000");
    await register("stubborn.eth");
    await ens.setResolver("stubborn.eth", ens.places.EnsWildcard);
    expect((await resolve({ name: "stubborn.eth" })).notes).to.equal("stubborn.eth gives no address.");
  });

  it("is refused when it can be no name", async () => {
    for (const name of ["a..eth", ".eth", "under_score.eth", "two words.eth", "xn--bcher-kva.eth", "\ud800.eth"])
      expect(await faultsOf(resolve({ name })), name).to.satisfy((faults: string[]) =>
        faults.every((fault) => fault.startsWith("body.name: Value error, name must ")),
      );
  });

  it("costs nothing when the node does not answer, or answers nonsense", async () => {
    const silent = await serve("resolve_name", wallet, createHost({}, { urls: { ethereum: DEAD, solana: DEAD } }));
    expect((await problemOf(silent({ name: "alice.eth" }))).code).to.equal("upstream-failed");
  });

  describe("that is kept behind a gateway", () => {
    let gateway: Gateway;
    before(async () => {
      gateway = await startGateway();
      await register("off.eth");
      await ens.setResolver("off.eth", ens.places.EnsOffchain);
    });
    after(() => Promise.all([closeServer(gateway.server), reachable.close()]));
    beforeEach(async () => {
      gateway.asked.length = 0;
      gateway.answer = () => [200, JSON.stringify({ data: toAnswer(BOB) })];
      resolve = await serveNames({ web: reachable });
    });
    const reachable = createGuardedFetch({
      lookup: (_name, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]),
      isAllowed: (address) => address === "127.0.0.1",
    });

    it("is asked for there by POST, or by GET where the address has room for the question", async () => {
      for (const path of ["/ask", "/{sender}/{data}.json"]) {
        await ens.setGateways([gateway.url(path)]);
        const { addresses } = await resolve({ name: "deep.off.eth" });
        expect(addresses).to.deep.equal([{ chain: "ethereum", address: BOB, ttl_hint_seconds: 300 }]);
      }
      const [posted] = gateway.asked.filter(({ method }) => method === "POST");
      const [got] = gateway.asked.filter(({ method }) => method === "GET");
      const { sender, data } = JSON.parse(posted?.body ?? "") as Record<string, string>;
      expect(sender?.toLowerCase()).to.equal(ens.places.EnsOffchain.toLowerCase());
      expect(data).to.match(/^0x9061b923/);
      expect(got?.url).to.match(new RegExp(`^/${ens.places.EnsOffchain.toLowerCase()}/0x9061b923[0-9a-f]+\\.json$`));
    });

    it("is asked for at the next gateway when one is down", async () => {
      await ens.setGateways([gateway.url("/down"), gateway.url("/up")]);
      gateway.answer = ({ url }) => (url === "/down" ? [503, ""] : [200, JSON.stringify({ data: toAnswer(BOB) })]);
      expect((await resolve({ name: "off.eth" })).addresses).to.have.length(1);
    });

    it("costs nothing when the gateway refuses, fails, or answers nonsense", async () => {
      await ens.setGateways([gateway.url("/ask")]);
      const answers: [number, string][] = [
        [404, '{"message":"not found"}'],
        [500, ""],
        [200, "<html>"],
        [200, '{"data":"hello"}'],
        [200, `{"data":"0x${"00".repeat(200_000)}"}`],
      ];
      for (const answer of answers) {
        gateway.answer = () => answer;
        const problem = await problemOf(resolve({ name: "off.eth" }));
        expect(problem.code, String(answer[0])).to.equal("upstream-failed");
        expect(problem.message).to.match(/^The gateway that the name's owner has chosen /);
      }
    });

    it("cannot keep this server asking for ever", async () => {
      await ens.setGateways([gateway.url("/ask")], true);
      expect((await problemOf(resolve({ name: "off.eth" }))).message).to.match(/asked too often$/);
      expect(gateway.asked).to.have.length.at.most(16);
      await ens.setGateways([]);
    });

    it("cannot send this server to an address that is not public", async () => {
      await ens.setGateways([gateway.url("/ask"), "http://127.0.0.1:1/", "file:///etc/passwd"]);
      const guarded = await serveNames();
      expect((await problemOf(guarded({ name: "off.eth" }))).code).to.equal("upstream-failed");
      expect(gateway.asked).to.deep.equal([]);
    });
  });
});

describe("a name of another suffix", () => {
  it("is answered without an address, and with the suffixes that are resolved", async () => {
    const resolve = await serve("resolve_name", wallet, createHost({}, { urls: { ethereum: DEAD, solana: DEAD } }));
    for (const name of ["example.com", "eth", "alice.bnb", "eth.", "sub.alice.sns"]) {
      const answer = await resolve({ name });
      expect(answer, name).to.deep.equal({
        name,
        addresses: [],
        resolved_at: now,
        registry_used: null,
        supported_tlds: [".eth", ".sol"],
        notes: "Only names that end in .eth or .sol are resolved.",
      });
    }
  });

  it("is refused when it is empty, too long, or no text", async () => {
    const resolve = await serve("resolve_name", wallet, createHost({}, { urls: { ethereum: DEAD, solana: DEAD } }));
    for (const name of ["", "a".repeat(256), 7, null])
      expect(await faultsOf(resolve({ name })), String(name)).to.have.length(1);
    expect(await faultsOf(resolve({}))).to.deep.equal(["body.name: Field required"]);
  });
});

/** Nobody listens there. */
const DEAD = "http://127.0.0.1:1";

/** What an ENSIP-10 resolver's gateway gives for `addr(node)`. */
const toAnswer = (address: Hex): Hex =>
  encodeAbiParameters([{ type: "bytes" }], [encodeAbiParameters([{ type: "address" }], [address])]);

interface Gateway {
  readonly server: Server;
  url(path: string): string;
  readonly asked: { method: string; url: string; body: string }[];
  answer: (request: IncomingMessage) => [status: number, body: string];
}

async function startGateway(): Promise<Gateway> {
  const server = createServer(async (request, response) => {
    gateway.asked.push({ method: request.method ?? "", url: request.url ?? "", body: await text(request) });
    const [status, body] = gateway.answer(request);
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  const { port } = new URL(await listenOnLoopback(server));
  const gateway: Gateway = {
    server,
    url: (path) => `http://gateway.test:${port}${path}`,
    asked: [],
    answer: () => [500, ""],
  };
  return gateway;
}
