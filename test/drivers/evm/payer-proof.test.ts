import { expect } from "chai";
import { BaseError, type Hex, type PublicClient } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Eip3009 } from "../../../runtime/core/x402/eip3009.ts";
import { ERC1271_MAGIC_VALUE } from "../../../runtime/drivers/evm/erc1271.ts";
import { createPayerProof, type TokenDomain, toAuthorizationDigest } from "../../../runtime/drivers/evm/payer-proof.ts";

const DOMAIN: TokenDomain = { name: "USD Coin", version: "2", chainId: 8453, verifyingContract: `0x${"a".repeat(40)}` };

describe("the proof of a payer on an EVM chain", () => {
  const [owner, stranger] = [generatePrivateKey(), generatePrivateKey()].map((key) => privateKeyToAccount(key));
  /** What the contract at the payer's address says, and what it was asked. */
  let says: () => string;
  let asked: { readonly functionName: string; readonly gas: bigint }[];
  const chain = {
    async readContract(call: never) {
      asked.push(call);
      return says();
    },
  } as unknown as PublicClient;
  const client = { chainId: 8453, name: "Base", ask: async <T>(work: (of: PublicClient) => Promise<T>) => work(chain) };
  const prove = createPayerProof(client, DOMAIN);

  beforeEach(() => {
    asked = [];
    says = () => {
      throw new BaseError("There is no contract");
    };
  });

  async function sign(from: Hex, signer = owner!, domain = DOMAIN): Promise<Eip3009> {
    const times = { validAfter: "0", validBefore: "1900000000" };
    const authorization = {
      from,
      to: stranger!.address,
      value: "1000",
      ...times,
      nonce: `0x${"1".repeat(64)}`,
    } as const;
    const signature = await signer.sign({ hash: await toAuthorizationDigest(authorization, domain) });
    return { signature, authorization };
  }

  it("is the signature of its key, for this token; no contract is asked then", async () => {
    expect(await prove({ ...(await sign(owner!.address)) })).to.equal("key");
    expect(asked).to.have.length(0);
    for (const change of [{ version: "1" }, { chainId: 137 }, { verifyingContract: `0x${"b".repeat(40)}` } as const])
      expect(await prove({ ...(await sign(owner!.address, owner, { ...DOMAIN, ...change })) })).to.equal(undefined);
  });

  it("is nobody else's signature", async () => {
    expect(await prove({ ...(await sign(owner!.address, stranger)) })).to.equal(undefined);
    const { authorization, signature } = await sign(owner!.address);
    expect(await prove({ signature, authorization: { ...authorization, value: "999" } })).to.equal(undefined);
  });

  it("is what the payer's contract accepts, asked with little gas", async () => {
    const payment = await sign(owner!.address, stranger);
    says = () => ERC1271_MAGIC_VALUE;
    expect(await prove({ ...payment })).to.equal("contract");
    expect(asked).to.deep.include({ ...asked[0]!, functionName: "isValidSignature", gas: 1_000_000n });
    says = () => `0x${"f".repeat(64)}`;
    expect(await prove({ ...payment })).to.equal(undefined);
  });

  it("is no signature of more than 4 KB, and none is asked about", async () => {
    says = () => ERC1271_MAGIC_VALUE;
    const { authorization } = await sign(owner!.address);
    expect(await prove({ authorization, signature: `0x${"11".repeat(4095)}` })).to.equal("contract");
    expect(await prove({ authorization, signature: `0x${"11".repeat(4096)}` })).to.equal(undefined);
    expect(asked).to.have.length(1);
  });
});
