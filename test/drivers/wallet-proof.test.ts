import { expect } from "chai";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Problem } from "../../runtime/api/problem.ts";
import { createEvmClient } from "../../runtime/drivers/evm/client.ts";
import { createWalletProof } from "../../runtime/drivers/wallet-proof.ts";
import { type EvmChain, startEvmChain } from "../../runtime/sandbox/evm/chain.ts";
import { problemOf } from "../support/thrown.ts";

const NETWORK = "eip155:8453";
const WALLET = "0x00000000000000000000000000000000000A11e7";
/** A contract that answers every call with this word. */
const says = (word: string): Hex => `0x7f${word.padEnd(64, "0")}60005260206000f3`;
/** A contract that returns its calldata. */
const ECHO: Hex = "0x365f5f37365ff3";
/** A precompiled contract of every EVM chain. The fourth returns its calldata. */
const precompiled = (number: number): Hex => `0x${String(number).padStart(40, "0")}`;
/** A contract that loops until its gas is used up. */
const ENDLESS: Hex = "0x5b600056";

describe("a wallet's proof", () => {
  let chain: EvmChain;
  const account = privateKeyToAccount(generatePrivateKey());
  const message = "a text";
  before(async () => {
    chain = await startEvmChain({ chainId: 8453 });
  });
  after(() => chain.stop());

  const openProof = (url: string) =>
    createWalletProof(new Map([[NETWORK, createEvmClient({ url, chainId: 8453, retries: 0 })]]));
  const prove = async (address: string, signature: string, network = NETWORK): Promise<unknown> =>
    openProof(chain.url)({ network, address, message, signature });

  it("is the key's own signature, without asking the chain", async () => {
    const signature = await account.signMessage({ message });
    const proof = openProof("http://127.0.0.1:9");
    expect(await proof({ network: NETWORK, address: account.address, message, signature })).to.equal("key");
  });

  it("is of a text that spells the address as the proof does, or with its checksum (EIP-4361)", async () => {
    const small = account.address.toLowerCase();
    const proof = openProof("http://127.0.0.1:9");
    for (const address of [small, account.address]) {
      const signature = await account.signMessage({ message: `I am ${address}` });
      expect(await proof({ network: NETWORK, address: small, message: `I am ${small}`, signature })).to.equal("key");
    }
  });

  it("is what the wallet's contract takes (ERC-1271), and nothing else", async () => {
    const signature = await account.signMessage({ message });
    const verdicts: Record<string, Hex> = {
      takes: says("1626ba7e"),
      refuses: says("ffffffff"),
      is: "0x",
      loops: ENDLESS,
    };
    const said: Record<string, unknown> = {};
    for (const [what, code] of Object.entries(verdicts)) {
      await chain.rpc("anvil_setCode", [WALLET, code]);
      said[what] = await prove(WALLET, signature);
    }
    expect(said).to.deep.equal({ takes: "contract", refuses: undefined, is: undefined, loops: undefined });
  });

  it("is none on a chain of which the shop has no node, but for the key's own", async () => {
    const signature = await account.signMessage({ message });
    expect(await prove(WALLET, signature, "eip155:1")).to.equal(undefined);
    expect(await prove(account.address, signature, "eip155:1")).to.equal("key");
  });

  it("is no echo of the question, which begins like a yes", async () => {
    await chain.rpc("anvil_setCode", [WALLET, ECHO]);
    expect(await prove(WALLET, "0x1234")).to.equal(undefined);
    expect(await prove(precompiled(4), "0x1234")).to.equal(undefined);
  });

  it("is none of a precompiled contract, whose failure is no outage of the node", async () => {
    for (const number of [1, 2, 3, 5, 6, 7, 8, 9])
      expect(await prove(precompiled(number), "0x1234"), String(number)).to.equal(undefined);
  });

  it("of a contract is not asked about without end, because asking costs the node that payments need", async () => {
    let asked = 0;
    const client = { chainId: 8453, name: "Base", ask: async () => ++asked as never };
    const proof = createWalletProof(new Map([[NETWORK, client]]));
    const signature = await account.signMessage({ message });
    const ask = (): Promise<unknown> =>
      proof({ network: NETWORK, address: WALLET, message, signature }).catch((error: Problem) => error.code);
    for (let proofs = 0; proofs < 240; proofs += 1) expect(await ask()).to.equal(undefined);
    const before = asked;
    expect(await ask()).to.equal("rate-limited");
    expect(asked).to.equal(before);
    const own = await proof({ network: NETWORK, address: account.address, message, signature });
    expect(own, "keys are not concerned").to.equal("key");
  });

  it("is not told when the chain cannot be asked", async () => {
    const signature = await account.signMessage({ message });
    const proof = openProof("http://127.0.0.1:9")({ network: NETWORK, address: WALLET, message, signature });
    expect(await proof.catch((error: unknown) => (error as Problem).code)).to.equal("upstream-failed");
  });

  it("is not told when the chain does not answer in time", async () => {
    const ask = (): Promise<never> => Promise.reject(new DOMException("late", "TimeoutError")); // As of a signal.
    const proof = createWalletProof(new Map([[NETWORK, { chainId: 8453, name: "Base", ask }]]));
    const signature = await account.signMessage({ message });
    expect(await problemOf(proof({ network: NETWORK, address: WALLET, message, signature }))).to.include({
      code: "upstream-failed",
      message: "The Base chain did not answer in time",
    });
  });

  it("is no text that is no signature", async () => {
    for (const signature of ["0x", "0x12", "", "x", `0x${"ff".repeat(65)}`, `0x${"00".repeat(5000)}`])
      expect(await prove(account.address, signature), signature.slice(0, 10)).to.equal(undefined);
    const solana = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
    for (const address of ["", "0", "1".repeat(32), account.address])
      expect(await prove(address, "1".repeat(64), solana), address).to.equal(undefined);
  });
});
