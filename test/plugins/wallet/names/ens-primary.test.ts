import { expect } from "chai";
import wallet from "../../../../plugins/wallet/index.ts";
import { createEns } from "../../../../plugins/wallet/names/ens/ens.ts";
import type { Hex } from "../../../../runtime/api/plugin.ts";
import { type Ens, startEns } from "../../../support/chains/ens.ts";
import { createHost, NOW, problemOf, serve } from "../../host.ts";

const ALICE = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const BOB = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const DAY = 86_400;
const now = NOW / 1000;

describe("the ENS name that an address has chosen for itself", () => {
  let ens: Ens;
  before(async () => {
    ens = await startEns();
    await ens.register("alice.eth");
    await ens.setAddress("alice.eth", ALICE);
  });
  after(() => ens.stop());

  const nameOf = (address: Hex): Promise<string | null> => {
    const host = createHost({}, { urls: { ethereum: ens.url } });
    return createEns(host).primaryName(address.toLowerCase(), new AbortController().signal);
  };

  it("is told when it leads back to the address", async () => {
    await ens.setPrimaryName(ALICE, "alice.eth");
    expect(await nameOf(ALICE)).to.equal("alice.eth");
  });

  it("is not told when it leads to another address", async () => {
    await ens.setPrimaryName(BOB, "alice.eth");
    expect(await nameOf(BOB)).to.equal(null);
  });

  it("is not told when it leads back, but has expired", async () => {
    await ens.register("gone.eth", { expiry: now - 100 * DAY });
    await ens.setAddress("gone.eth", BOB);
    await ens.setPrimaryName(BOB, "gone.eth");
    expect(await nameOf(BOB)).to.equal(null);
  });

  it("is not told when it is not written as it is looked up", async () => {
    for (const name of ["Alice.eth", "al\u200bice.eth", "two words.eth"]) {
      await ens.register(name);
      await ens.setAddress(name, BOB);
      await ens.setPrimaryName(BOB, name);
      expect(await nameOf(BOB), name).to.equal(null);
    }
  });

  it("is nothing when the address has chosen none, or one that is not registered", async () => {
    expect(await nameOf("0x000000000000000000000000000000000000dEaD")).to.equal(null);
    await ens.setPrimaryName(BOB, "");
    expect(await nameOf(BOB)).to.equal(null);
    await ens.setPrimaryName(BOB, "never-registered.eth");
    expect(await nameOf(BOB)).to.equal(null);
  });

  it("answers /v1/resolve/name for an address, with the addresses that it leads to", async () => {
    await ens.setPrimaryName(ALICE, "alice.eth");
    const host = createHost({}, { urls: { ethereum: ens.url } });
    const resolve = await serve("resolve_name", wallet, host);
    for (const name of [ALICE, ALICE.slice(2), `eip155:1:${ALICE}`]) {
      const answer = await resolve({ name });
      expect(answer).to.deep.include({ name: "alice.eth", registry_used: "ENS" });
      expect(answer.notes).to.equal(`The primary name of ${ALICE}.`);
      expect((answer.addresses as { address: string }[])[0]?.address).to.equal(ALICE);
    }
    expect(await resolve({ name: "alice.eth." })).to.include({ name: "alice.eth", notes: null });
    const nobody = "0x000000000000000000000000000000000000dEaD";
    const { code, status, message } = await problemOf(resolve({ name: nobody.toLowerCase() }));
    expect([code, status]).to.deep.equal(["nothing-found", 404]);
    expect(message).to.equal(`${nobody} has no primary name in ENS that leads back to it`);
  });

  it("may end in anything that ENS knows", async () => {
    await ens.setResolver("pay.example.com", ens.places.EnsResolver);
    await ens.setAddress("pay.example.com", BOB);
    await ens.setPrimaryName(BOB, "pay.example.com");
    expect(await nameOf(BOB)).to.equal("pay.example.com");
  });
});
