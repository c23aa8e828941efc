import { SystemProgram } from "@solana/web3.js";
import { expect } from "chai";
import wallet from "../../../../plugins/wallet/index.ts";
import { PROGRAMS, toReverseKey, toSolKeys } from "../../../../plugins/wallet/names/sol/keys.ts";
import { createSol } from "../../../../plugins/wallet/names/sol/sol.ts";
import { createSolWallet, type Sns, startSns, TOKEN_2022_PROGRAM } from "../../../support/chains/sns.ts";
import { createHost, faultsOf, NOW, type Serve, serve } from "../../host.ts";

const alice = createSolWallet();
const bob = createSolWallet();
const carol = createSolWallet();
const signal = new AbortController().signal;

describe("a .sol name", () => {
  let sns: Sns;
  let resolve: Serve;

  before(async () => {
    sns = await startSns();
    const urls = { ethereum: sns.url, solana: sns.url };
    resolve = await serve("resolve_name", wallet, createHost({}, { urls }));
  });
  after(() => sns.stop());

  /** The address that a name leads to, or else the notes. */
  async function leadOf(name: string): Promise<unknown> {
    const { addresses, notes } = (await resolve({ name })) as { addresses: { address: string }[]; notes: unknown };
    return addresses[0]?.address ?? notes;
  }

  it("stands where SNS and the Solana Record Service have published that it stands", async () => {
    expect((await toSolKeys("bonfida")).domain).to.equal("Crf8hzfthWGbGbLTVCiqRqV5MVnbpHB1L9KQMd6gsinb");
    expect(await toReverseKey("Crf8hzfthWGbGbLTVCiqRqV5MVnbpHB1L9KQMd6gsinb")).to.equal(
      "DqgmWxe2PPrfy45Ja3UPyFGwcbRzkRuwXt3NyxjX8krg",
    );
    expect((await toSolKeys("domain1")).recordV2).to.equal("GBrd6Q53eu1T2PiaQAtm92r3DwxmoGvZ2D6xjtVtN1Qt");
    expect(await toSolKeys("wallet-guide-5")).to.include({
      domain: "iSNVgWfb31aTWa58UxZ6fp7n3TTrUk5Gojggub5stXk",
      tokenMint: "2RJhBbxTiPT2bZq5bhjaTZbsnhbDB7VtTAMmCdBrwBZP",
    });
    expect((await toSolKeys("sns-ip-5-wallet-1")).registration).to.equal(
      "5aJnvSs3K5J1eFS1cemYHWnUeWp3QjKThWh5mWbGBgkt",
    );
    expect((await toSolKeys("sns-ip-5-wallet-2")).registration).to.equal(
      "2gN2aGXi9kRnkXewWsshKTUWairEvMapA3z1EaqFqwMd",
    );
  });

  it("leads to its owner, in whatever case it is written", async () => {
    await sns.register("alice", alice.address);
    expect(await resolve({ name: "Alice.SOL" })).to.deep.equal({
      name: "alice.sol",
      addresses: [{ chain: "solana", address: alice.address, ttl_hint_seconds: 300 }],
      resolved_at: NOW / 1000,
      registry_used: "SNS",
      supported_tlds: [".eth", ".sol"],
      notes: null,
    });
  });

  it("comes with a warning when its letters can look like others", async () => {
    await sns.register("аlice", bob.address); // The first letter is Cyrillic.
    expect((await resolve({ name: "аlice.sol" })).notes).to.match(/^Beware: .* may imitate another name\.$/);
  });

  it("leads nowhere when it is not registered", async () => {
    expect(await leadOf("nobody.sol")).to.equal("nobody.sol is not registered.");
    const { domain, registration } = await toSolKeys("dusted");
    for (const address of [domain, registration]) sns.put(address, SystemProgram.programId.toBase58(), Buffer.alloc(0));
    expect(await leadOf("dusted.sol")).to.equal("dusted.sol is not registered.");
  });

  it("leads nowhere when only one registry knows it, or the two lead to different wallets", async () => {
    await sns.own("only-sns", alice.address);
    await sns.hold("only-service", alice.address);
    await sns.own("disputed", alice.address);
    await sns.hold("disputed", bob.address);
    expect(await leadOf("only-sns.sol")).to.match(/^SNS knows only-sns\.sol, the Solana Record Service does not/);
    expect(await leadOf("only-service.sol")).to.match(
      /^The Solana Record Service knows only-service\.sol, SNS does not/,
    );
    expect(await leadOf("disputed.sol")).to.match(/lead disputed\.sol to different wallets, so no address is given\.$/);
  });

  it("leads nowhere once its registration has expired", async () => {
    await sns.own("lapsed", alice.address);
    await sns.hold("lapsed", alice.address, { expiry: BigInt(NOW / 1000) });
    expect(await leadOf("lapsed.sol")).to.equal("lapsed.sol leads nowhere. Its registration has expired.");
    await sns.hold("lapsed", alice.address, { expiry: BigInt(NOW / 1000 + 1) });
    expect(await leadOf("lapsed.sol")).to.equal(alice.address);
  });

  it("leads nowhere when its entry is of an unknown form", async () => {
    await sns.register("strange", alice.address);
    const { domain } = await toSolKeys("strange");
    const entries = [{ kind: 7 }, { nameClass: alice.address }, { length: 74 }];
    for (const entry of entries) {
      await sns.hold("strange", alice.address, entry);
      expect(await leadOf("strange.sol")).to.match(/in the Solana Record Service is of an unknown form/);
    }
    await sns.hold("strange", alice.address);
    sns.put(domain, PROGRAMS.sns, Buffer.alloc(95));
    expect(await leadOf("strange.sol")).to.match(/in SNS is of an unknown form/);
  });

  it("leads nowhere when it belongs to a program", async () => {
    const { domain } = await toSolKeys("anything");
    await sns.register("program", domain);
    expect(await leadOf("program.sol")).to.match(/^program\.sol leads nowhere\. It belongs to a program's address/);
  });

  it("has no subdomains", async () => {
    expect(await leadOf("sub.alice.sol")).to.match(/has no subdomains\.$/);
  });

  it("is refused when it can be no name", async () => {
    for (const name of [".sol", "a..sol", "\ud800.sol"])
      expect(await faultsOf(resolve({ name })), name).to.have.length(1);
  });

  describe("whose owner has others paid", () => {
    it("leads to the wallet of a SOL record that the owner has set and the wallet has confirmed", async () => {
      await sns.own("paid-v2", alice.address);
      await sns.hold("paid-v2", bob.address);
      await sns.setRecordV2("paid-v2", { target: bob.address, setBy: alice.address });
      expect(await leadOf("paid-v2.sol")).to.equal(bob.address);
    });

    it("leads to its owner when a former owner has set the record", async () => {
      await sns.register("sold", alice.address);
      await sns.setRecordV2("sold", { target: carol.address, setBy: bob.address });
      expect(await leadOf("sold.sol")).to.equal(alice.address);
    });

    it("leads nowhere when the wallet has not confirmed it, or nobody has signed it", async () => {
      await sns.register("claimed", alice.address);
      for (const record of [{ confirmedBy: carol.address }, { signed: 3 }, { signed: 0 }]) {
        await sns.setRecordV2("claimed", { target: bob.address, setBy: alice.address, ...record });
        expect(await leadOf("claimed.sol")).to.match(/names a wallet that has not confirmed it\.$/);
      }
    });

    it("leads nowhere when the record is cut short", async () => {
      const { recordV2 } = await toSolKeys("claimed");
      for (const length of [0, 96, 199]) {
        sns.put(recordV2, PROGRAMS.sns, Buffer.alloc(length, 1));
        expect(await leadOf("claimed.sol")).to.match(/names a wallet that has not confirmed it\.$/);
      }
    });

    it("leads to the wallet of an older record that the owner has signed", async () => {
      await sns.own("paid-v1", alice.address);
      await sns.hold("paid-v1", bob.address);
      await sns.setRecordV1("paid-v1", bob.address, alice);
      expect(await leadOf("paid-v1.sol")).to.equal(bob.address);
      await sns.setRecordV2("paid-v1", { target: carol.address, setBy: carol.address }); // A former owner's.
      expect(await leadOf("paid-v1.sol")).to.equal(bob.address);
    });

    it("leads to its owner when somebody else has signed the older record, or nobody", async () => {
      await sns.register("forged", alice.address);
      await sns.setRecordV1("forged", carol.address, bob);
      expect(await leadOf("forged.sol")).to.equal(alice.address);
      const { recordV1 } = await toSolKeys("forged");
      sns.put(recordV1, PROGRAMS.sns, Buffer.alloc(97));
      expect(await leadOf("forged.sol")).to.equal(alice.address);
    });
  });

  describe("that was made a token", () => {
    it("leads to whoever holds the token, at both registries", async () => {
      const { registrationMint } = await toSolKeys("token");
      await sns.register("token", alice.address);
      await sns.hold("token", registrationMint, { kind: 1 });
      sns.putToken(registrationMint, bob.address, { program: TOKEN_2022_PROGRAM });
      await sns.tokenize("token", bob.address);
      expect(await leadOf("token.sol")).to.equal(bob.address);
    });

    it("leads to its owner again when the token was given back", async () => {
      await sns.register("redeemed", alice.address);
      await sns.tokenize("redeemed", bob.address, 3);
      expect(await leadOf("redeemed.sol")).to.equal(alice.address);
    });

    it("leads nowhere when the token is not held by one wallet alone", async () => {
      await sns.register("split", alice.address);
      await sns.tokenize("split", alice.address);
      const { tokenMint } = await toSolKeys("split");
      sns.putToken(tokenMint, alice.address, { amount: 2n });
      expect(await leadOf("split.sol")).to.match(/nobody holds that token alone\.$/);
      sns.putToken(tokenMint, alice.address, { elsewhere: 1n });
      expect(await leadOf("split.sol")).to.match(/nobody holds that token alone\.$/);
      sns.putToken(tokenMint, alice.address, { program: PROGRAMS.sns });
      expect(await leadOf("split.sol")).to.match(/nobody holds that token alone\.$/);
    });

    it("leads nowhere when its entry names another token, or one that does not exist", async () => {
      const { registrationMint } = await toSolKeys("fake");
      await sns.register("fake", alice.address);
      await sns.hold("fake", bob.address, { kind: 1 });
      expect(await leadOf("fake.sol")).to.match(/of an unknown form/);
      await sns.hold("fake", registrationMint, { kind: 1 });
      expect(await leadOf("fake.sol")).to.match(/nobody holds that token alone\.$/);
    });
  });

  describe("that a wallet has chosen for itself", () => {
    const nameOf = (address: string): Promise<string | null> =>
      createSol(createHost({}, { urls: { solana: sns.url } })).primaryName(address, signal);

    it("is told when it leads back to the wallet", async () => {
      await sns.register("dave", carol.address);
      await sns.setFavourite(carol.address, "dave");
      expect(await nameOf(carol.address)).to.equal("dave.sol");
    });

    it("is not told when it leads to another wallet, was given away, or was taken back", async () => {
      await sns.register("not-mine", alice.address);
      await sns.setFavourite(bob.address, "not-mine");
      expect(await nameOf(bob.address)).to.equal(null);
      await sns.register("dave", alice.address);
      expect(await nameOf(carol.address)).to.equal(null);
      await sns.register("dave", carol.address);
      await sns.setFavourite(carol.address, "dave", { tag: 0 });
      expect(await nameOf(carol.address)).to.equal(null);
    });

    it("is not told when it imitates another by characters that are not seen, or by capitals", async () => {
      for (const label of ["bonf\u200bida", "bonfida\u00ad", "bon fida", "\u2066bonfida", "Bonfida"]) {
        const { address } = createSolWallet();
        await sns.register(label, address);
        await sns.setFavourite(address, label);
        expect(await nameOf(address), JSON.stringify(label)).to.equal(null);
      }
    });

    it("is nothing when the wallet has chosen none, or one whose name nobody has written down", async () => {
      const erin = createSolWallet().address;
      expect(await nameOf(erin)).to.equal(null);
      await sns.register("erin", erin);
      await sns.setFavourite(erin, "erin", { name: "" });
      expect(await nameOf(erin)).to.equal(null);
    });
  });
});
