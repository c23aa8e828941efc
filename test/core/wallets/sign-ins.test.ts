import { expect } from "chai";
import { createSignIns, type ProveWallet, type SignIns } from "../../../runtime/core/wallets/sign-in.ts";
import { encode } from "../../support/sellers/signed.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const ADDRESS = "0xAbCdEf0000000000000000000000000000000001";
const [BASE, POLYGON] = ["eip155:8453", "eip155:137"];
const NOW = 1_800_000_000_000;

describe("a proof of a wallet", () => {
  let kind: Awaited<ReturnType<ProveWallet>>;
  let signIns: SignIns;
  beforeEach(() => {
    kind = "key";
    const clock = { now: () => NOW };
    const networks = [BASE, POLYGON, "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"];
    const store = createMemoryStore(clock.now);
    signIns = createSignIns({ baseUrl: "https://pay.example", networks, prove: async () => kind, store, clock });
  });
  const verify = (change: object = {}): ReturnType<SignIns["verify"]> => {
    const { info } = signIns.declare() as { info: object };
    return signIns.verify({ ...info, address: ADDRESS, chainId: BASE, type: "eip191", signature: "0x01", ...change });
  };
  const accountsOf = async (): Promise<unknown> => {
    const wallet = await verify();
    return typeof wallet === "string" ? wallet : wallet.accounts;
  };

  it("speaks for all networks of a key, and for one of a contract: elsewhere the address may be another's", async () => {
    const account = ADDRESS.toLowerCase();
    expect(await accountsOf()).to.deep.equal([`${BASE}:${account}`, `${POLYGON}:${account}`]);
    kind = "contract";
    expect(await accountsOf()).to.deep.equal([`${BASE}:${account}`]);
  });

  it("is good for five minutes", async () => {
    const at = (ms: number): string => new Date(NOW - ms).toISOString();
    expect(await verify({ issuedAt: at(300_000) })).to.be.an("object");
    expect(await verify({ issuedAt: at(300_001) })).to.match(/^issuedAt is .* it may be 5 minutes old at most$/);
  });

  it("names 16 resources at most, each in one line of the signed text", async () => {
    const resources = Array.from({ length: 16 }, (_, at) => `https://pay.example/${at}`);
    expect(await verify({ resources })).to.be.an("object");
    for (const wrong of [[...resources, "https://pay.example/16"], "a:b", ["a\nb"], [1]])
      expect(await verify({ resources: wrong })).to.equal("resources is not a list of at most 16 URLs");
  });

  it("is refused where it was signed for a page of another origin", async () => {
    expect(await verify({ uri: "https://pay.example/v1/purchases" })).to.be.an("object");
    expect(await verify({ uri: "https://evil.example" })).to.match(
      /^uri is .* and must be of "https:\/\/pay\.example"$/,
    );
  });

  it("may be as long as a payment's: that of a smart wallet with a passkey has some 2200 characters", async () => {
    const signature = `0x${"ab".repeat(4095)}`;
    expect(await verify({ signature })).to.be.an("object");
    expect(await verify({ signature: `${signature}ab` })).to.equal("signature is not one line of text");
    const { info } = signIns.declare() as { info: object };
    const proof = { ...info, address: ADDRESS, chainId: BASE, type: "eip191", signature };
    expect(await signIns.verify(encode(proof))).to.be.an("object");
  });

  it("says, where it is of a contract that does not stand yet, that such a wallet cannot sign in", async () => {
    kind = undefined;
    expect(await verify()).to.equal("the signature is not the wallet's");
    const signature = `0x01${"6492".repeat(16)}`;
    expect(await verify({ signature })).to.equal(
      "the signature is not the wallet's: a contract must be deployed, as it is by its first payment, before it signs in",
    );
  });
});
