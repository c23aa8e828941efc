import { expect } from "chai";
import { encodeFunctionData, parseAbi, parseSignature } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { type SandboxFacilitator, startFacilitator } from "../../runtime/sandbox/facilitator.ts";
import { sharedSandbox, type TestSandbox } from "../support/chains/chains.ts";
import { ask, pay, payV1, requirementsOn } from "./buyer.ts";

describe("the sandbox's facilitator", () => {
  let sandbox: TestSandbox;
  let url: string;
  before(async () => {
    sandbox = await sharedSandbox();
    url = sandbox.description.facilitator;
  });

  /** The seller's balance on a rail. */
  const earned = async (id: string): Promise<bigint> => {
    if (id === "base") return sandbox.usdc.balanceOf(sandbox.env.BASE_PAYMENT_ADDRESS!);
    return sandbox.solana.tokenBalance(sandbox.env.SOLANA_PAYMENT_ADDRESS!);
  };

  it("says what it takes, on both chains and in both versions of the protocol", async () => {
    const answer = await fetch(`${url}/supported`);
    const supported = (await answer.json()) as {
      kinds: { x402Version: number; scheme: string; network: string; extra?: { feePayer?: string } }[];
      signers: Record<string, string[]>;
    };
    expect(
      supported.kinds.map(({ x402Version, scheme, network }) => [x402Version, scheme, network]),
    ).to.have.deep.members([
      [2, "exact", "eip155:8453"],
      [2, "exact", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"],
      [1, "exact", "base"],
      [1, "exact", "solana"],
    ]);
    const feePayers = supported.kinds.filter(({ network }) => network.startsWith("solana")).map(({ extra }) => extra);
    expect(feePayers).to.have.lengthOf(2);
    for (const extra of feePayers) expect(supported.signers["solana:*"]).to.include(extra?.feePayer);
  });

  for (const id of ["base", "solana"]) {
    describe(`on ${id}`, () => {
      it("verifies a payment without moving money, and moves it when it settles", async () => {
        const requirements = await requirementsOn(sandbox, id, 20_000n);
        const payment = await pay(sandbox, requirements);
        const before = await earned(id);

        expect(await ask(url, "verify", payment, requirements)).to.include({ isValid: true });
        expect(await earned(id)).to.equal(before);

        const settled = await ask(url, "settle", payment, requirements);
        expect(settled).to.include({ success: true, network: requirements.network });
        expect(settled.transaction).to.match(id === "base" ? /^0x[\da-f]{64}$/ : /^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
        expect(await earned(id)).to.equal(before + 20_000n);
      });

      it("settles a payment of version 1", async () => {
        const { payment, requirements } = await payV1(sandbox, await requirementsOn(sandbox, id, 1000n));
        expect(payment).to.include({ x402Version: 1, network: id });
        const before = await earned(id);
        expect(await ask(url, "verify", payment, requirements)).to.include({ isValid: true });
        expect(await ask(url, "settle", payment, requirements)).to.include({ success: true });
        expect(await earned(id)).to.equal(before + 1000n);
      });

      it("moves the money of one payment once, however often it is settled", async () => {
        const requirements = await requirementsOn(sandbox, id, 1000n);
        const payment = await pay(sandbox, requirements);
        const before = await earned(id);
        await Promise.all([1, 2, 3].map(() => ask(url, "settle", payment, requirements)));
        const again = await ask(url, "settle", payment, requirements);
        expect(again.success).to.equal(false);
        expect(await earned(id)).to.equal(before + 1000n);
      });

      it("refuses a payment of less than is asked", async () => {
        const requirements = await requirementsOn(sandbox, id, 1000n);
        const payment = await pay(sandbox, requirements);
        const verdict = await ask(url, "verify", payment, { ...requirements, amount: "1001" });
        expect(verdict.isValid).to.equal(false);
        expect(verdict.invalidReason).to.match(/amount|value/);
      });
    });
  }

  it("refuses an authorization that its payer cancelled", async () => {
    const requirements = await requirementsOn(sandbox, "base", 1000n);
    const payment = await pay(sandbox, requirements);
    const { nonce } = payment.payload.authorization as { nonce: `0x${string}` };
    const { address, private_key } = sandbox.description.buyer.evm;
    const signature = await privateKeyToAccount(private_key).signTypedData({
      domain: { name: "USD Coin", version: "2", chainId: 8453, verifyingContract: sandbox.usdc.address },
      types: {
        CancelAuthorization: [
          { name: "authorizer", type: "address" },
          { name: "nonce", type: "bytes32" },
        ],
      },
      primaryType: "CancelAuthorization",
      message: { authorizer: address, nonce },
    });
    const { v, r, s } = parseSignature(signature);
    const data = encodeFunctionData({
      abi: parseAbi(["function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)"]),
      functionName: "cancelAuthorization",
      args: [address, nonce, Number(v), r, s],
    });
    await sandbox.base.transact(sandbox.usdc.address, data);

    const verdict = await ask(url, "verify", payment, requirements);
    expect(verdict).to.include({ isValid: false, invalidReason: "invalid_exact_evm_nonce_already_used" });
    expect(await ask(url, "settle", payment, requirements)).to.include({ success: false });
  });

  it("refuses a payment whose signature is another's", async () => {
    const requirements = await requirementsOn(sandbox, "base", 1000n);
    const [payment, other] = await Promise.all([pay(sandbox, requirements), pay(sandbox, requirements)]);
    payment.payload.signature = other.payload.signature;
    const verdict = await ask(url, "verify", payment, requirements);
    expect(verdict).to.include({ isValid: false, invalidReason: "invalid_exact_evm_signature" });
  });

  it("refuses a Solana payment whose blockhash has expired", async () => {
    const requirements = await requirementsOn(sandbox, "solana", 1000n);
    const payment = await pay(sandbox, requirements);
    sandbox.solana.expireBlockhash();
    const verdict = await ask(url, "verify", payment, requirements);
    expect(verdict.isValid).to.equal(false);
    expect(verdict.invalidMessage).to.include("BlockhashNotFound");
  });

  it("tells bad requests, and addresses that it does not have", async () => {
    const bad = await fetch(`${url}/verify`, { method: "POST", body: "{" });
    expect(bad.status).to.equal(400);
    expect((await fetch(`${url}/nothing`)).status).to.equal(404);
    const elsewhere = await requirementsOn(sandbox, "base", 1000n);
    const payment = await pay(sandbox, elsewhere);
    const unknown = { ...payment, accepted: { ...elsewhere, network: "eip155:1" } };
    const answer = await ask(url, "verify", unknown, { ...elsewhere, network: "eip155:1" });
    expect(answer).to.have.property("error").that.includes("eip155:1");
  });

  describe("of one's own", () => {
    let facilitator: SandboxFacilitator;
    before(async () => {
      const chains = { base: sandbox.base, solana: sandbox.solana };
      facilitator = await startFacilitator({ chains, confirmationTimeoutMs: 100 });
    });
    after(() => facilitator.stop());

    it("answers settlement_pending while the chain holds a payment back, and success when asked again", async () => {
      const answer = await fetch(`${facilitator.url}/supported`);
      const { kinds } = (await answer.json()) as { kinds: { network: string; extra?: Record<string, unknown> }[] };
      const requirements = {
        ...(await requirementsOn(sandbox, "solana", 1000n)),
        extra: kinds.find(({ network }) => network === sandbox.solana.network)?.extra ?? {},
      };
      const payment = await pay(sandbox, requirements);
      sandbox.solana.hold();
      const pending = await ask(facilitator.url, "settle", payment, requirements);
      expect(pending).to.include({ success: false, errorReason: "settlement_pending" });
      sandbox.solana.release();
      const settled = await ask(facilitator.url, "settle", payment, requirements);
      expect(settled).to.include({ success: true, transaction: pending.transaction });
    });
  });
});
