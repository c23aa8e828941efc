import { ens_normalize } from "@adraffy/ens-normalize";
import { base58 } from "@scure/base";
import { expect } from "chai";
import fc from "fast-check";
import wallet from "../../../../plugins/wallet/index.ts";
import { normalizeEnsName } from "../../../../plugins/wallet/names/ens/normalize.ts";
import { type Ens, startEns } from "../../../support/chains/ens.ts";
import { createHost, faultsOf, NOW, type Serve, serve } from "../../host.ts";

const ALICE = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const BOB = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const DAY = 86_400;
const now = NOW / 1000;
const LATER = now + 365 * DAY;

describe("a .eth name", () => {
  let ens: Ens;
  let resolve: Serve;

  before(async () => {
    ens = await startEns();
    resolve = await serve("resolve_name", wallet, createHost({}, { urls: { ethereum: ens.url } }));
  });
  after(() => ens.stop());
  it("leads to the address that its owner has set", async () => {
    await ens.register("alice.eth");
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
    await ens.register("both.eth", { ttl: 3600 });
    await ens.setAddress("both.eth", ALICE);
    await ens.setCoin("both.eth", 501, `0x${"07".repeat(32)}`);
    const { addresses, notes } = await resolve({ name: "both.eth" });
    expect(addresses).to.deep.equal([
      { chain: "ethereum", address: ALICE, ttl_hint_seconds: 3600 },
      { chain: "solana", address: key, ttl_hint_seconds: 3600 },
    ]);
    expect(notes).to.equal(null);
  });

  it("says when nobody has the key of an address that its owner has set", async () => {
    const dead = "0x000000000000000000000000000000000000dEaD";
    await ens.register("lost.eth");
    await ens.setAddress("lost.eth", dead);
    const { addresses, notes } = await resolve({ name: "lost.eth" });
    expect(addresses).to.deep.equal([{ chain: "ethereum", address: dead, ttl_hint_seconds: 300 }]);
    expect(notes).to.equal(`Nobody has the key of ${dead}: what is sent there is lost.`);
  });

  it("does not lead to what is no Solana key", async () => {
    await ens.register("odd.eth", { ttl: 400 * DAY });
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
    await ens.register("blank.eth");
    await ens.setExpiry("unset", LATER);
    await ens.setExpiry("broken", LATER);
    await ens.setResolver("broken.eth", BOB);
    for (const name of ["blank.eth", "unset.eth", "broken.eth"]) {
      const { addresses, notes } = await resolve({ name });
      expect(addresses, name).to.deep.equal([]);
      expect(notes, name).to.equal(`${name} gives no address.`);
    }
  });

  it("leads nowhere once it has expired, whatever its records still say", async () => {
    await ens.register("lapsed.eth", { expiry: now - 91 * DAY });
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
    await ens.register("late.eth", { expiry: now - 89 * DAY });
    await ens.setAddress("late.eth", ALICE);
    const { addresses, notes } = await resolve({ name: "late.eth" });
    expect(addresses).to.deep.equal([{ chain: "ethereum", address: ALICE, ttl_hint_seconds: 300 }]);
    expect(notes).to.match(/^Beware: late\.eth expired on 2026-10-18\. Until 2027-01-16 its last owner alone/);
  });

  it("is the newer registry's business once it has moved there", async () => {
    await ens.register("moved.eth", { expiry: now - 200 * DAY });
    await ens.setAddress("moved.eth", ALICE);
    await ens.setWildcard(BOB);
    await ens.setSuccessor("moved.eth", ens.places.EnsWildcard);
    const { addresses, notes } = await resolve({ name: "moved.eth" });
    expect(addresses).to.deep.equal([{ chain: "ethereum", address: BOB, ttl_hint_seconds: 300 }]);
    expect(notes).to.equal(null);
  });

  it("is answered by a resolver of the name above it, if that takes names below", async () => {
    await ens.setWildcard(BOB);
    await ens.register("wild.eth");
    await ens.setResolver("wild.eth", ens.places.EnsWildcard);
    const { addresses } = await resolve({ name: "some.thing.wild.eth" });
    expect(addresses).to.deep.equal([{ chain: "ethereum", address: BOB, ttl_hint_seconds: 300 }]);
    await ens.register("plain.eth");
    await ens.setAddress("plain.eth", ALICE);
    expect((await resolve({ name: "sub.plain.eth" })).addresses).to.deep.equal([]);
  });

  it("leads nowhere when its resolver refuses", async () => {
    await ens.setWildcard("0x0000000000000000000000000000000000000000");
    await ens.register("stubborn.eth");
    await ens.setResolver("stubborn.eth", ens.places.EnsWildcard);
    expect((await resolve({ name: "stubborn.eth" })).notes).to.equal("stubborn.eth gives no address.");
  });

  it("is normalized the same way with the tables of ENSIP-15 and without", () => {
    const normal = (text: string): string | undefined => {
      try {
        return ens_normalize(text);
      } catch {
        return undefined;
      }
    };
    const ours = (text: string): string | undefined => {
      try {
        return normalizeEnsName(text);
      } catch {
        return undefined;
      }
    };
    const label = fc.string({ unit: fc.constantFrom(..."ab9-_x"), minLength: 1, maxLength: 6 });
    const name = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join("."));
    fc.assert(
      fc.property(name, (text) => void expect(ours(text)).to.equal(normal(text))),
      { numRuns: 2000 },
    );
  });

  it("is refused when it can be no name", async () => {
    for (const name of ["a..eth", ".eth", "under_score.eth", "two words.eth", "xn--bcher-kva.eth", "\ud800.eth"])
      expect(await faultsOf(resolve({ name })), name).to.satisfy((faults: string[]) =>
        faults.every((fault) => fault.startsWith("body.name: Value error, name must ")),
      );
  });
});
