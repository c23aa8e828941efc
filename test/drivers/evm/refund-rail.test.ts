import { expect } from "chai";
import { encodeEventTopics, type Hex, type PublicClient } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { Problem } from "../../../runtime/api/problem.ts";
import type { Eip3009 } from "../../../runtime/core/x402/eip3009.ts";
import type { EvmClient } from "../../../runtime/drivers/evm/client.ts";
import { createEvmRefundRail } from "../../../runtime/drivers/evm/refund-rail.ts";
import type { EvmSender, EvmSubmission } from "../../../runtime/drivers/evm/sender/sender.ts";
import type { EvmInclusion } from "../../../runtime/drivers/evm/sender/signer.ts";
import { EIP3009_ABI } from "../../../runtime/drivers/evm/token-abi.ts";
import { rail } from "../../support/chains/chains.ts";
import { eventually } from "../../support/eventually.ts";
import { thrown } from "../../support/thrown.ts";

const IN_BLOCK: EvmInclusion = { hash: "0x1", blockNumber: 1n, status: "success", logs: [], feeWei: 0n, sentAt: 0 };
const [CANCELED] = encodeEventTopics({ abi: EIP3009_ABI, eventName: "AuthorizationCanceled" });

describe("the refund rail on an EVM chain", () => {
  const account = privateKeyToAccount(generatePrivateKey());
  /** The outcomes of the transactions that were submitted. */
  let submitted: PromiseWithResolvers<EvmInclusion>[];
  /** As the sender remembers them: until they can never be included. */
  let known: Map<string | undefined, EvmSubmission>;
  /** Whether a block takes each further transaction at once. */
  let isQuick: boolean;
  const sender: Pick<EvmSender, "submit" | "find"> = {
    async submit({ id }) {
      const outcome = Promise.withResolvers<EvmInclusion>();
      submitted.push(outcome);
      if (isQuick) outcome.resolve(IN_BLOCK);
      const included = (signal: AbortSignal): Promise<EvmInclusion> =>
        signal.aborted ? Promise.reject(signal.reason) : outcome.promise;
      const submission: EvmSubmission = { hash: "0x1", included };
      known.set(id, submission);
      outcome.promise.catch(() => known.delete(id));
      return submission;
    },
    find: async (id) => known.get(id),
  };
  /** The block with the event of the authorization's end, thirty days of Base's blocks ago. */
  const ended = 704_000n;
  const chain = {
    getBlock: async () => ({ number: 2_000_000n, timestamp: 1_800_000_000n }),
    readContract: async () => true,
    async request({ params }: { readonly params: readonly { readonly fromBlock: Hex; readonly toBlock: Hex }[] }) {
      const [from, to] = [BigInt(params[0]!.fromBlock), BigInt(params[0]!.toBlock)];
      return from <= ended && ended <= to ? [{ transactionHash: "0x1", topics: [CANCELED] }] : [];
    },
  } as unknown as PublicClient;
  const client: EvmClient = { chainId: 8453, name: "Base", ask: async (work) => work(chain) };
  const treasury = { evmAccount: async () => account, evmAddress: async () => account.address };
  const open = () => createEvmRefundRail({ manifest: rail("base"), client, sender: sender as EvmSender, treasury });
  const never = new AbortController().signal;
  let signed: Eip3009;

  beforeEach(async () => {
    [submitted, isQuick] = [[], false];
    known = new Map();
    signed = await open().sign("a job", { to: account.address, amount: "1000" });
  });

  it("sends no second transaction while the first one waits for its block", async () => {
    const { send } = open();
    await thrown(send(signed, AbortSignal.abort(new Error("the attempt is over"))));
    isQuick = true;
    const again = send(signed, never);
    const ofAnotherProcess = open().send(signed, never);
    submitted[0]?.resolve(IN_BLOCK);
    await Promise.all([again, ofAnotherProcess]);
    expect(submitted).to.have.length(1);
  });

  it("sends another one when the first was reverted, as for want of tokens", async () => {
    const { send } = open();
    const first = send(signed, never);
    (await eventually(() => submitted[0]))?.resolve({ ...IN_BLOCK, status: "reverted" });
    await first;
    const second = send(signed, never);
    (await eventually(() => submitted[1]))?.resolve(IN_BLOCK);
    await second;
  });

  it("sends another one when the first can never be included", async () => {
    const { send } = open();
    const first = send(signed, never);
    (await eventually(() => submitted[0]))?.reject(
      new Problem("upstream-failed", "Another transaction took its place"),
    );
    expect(await thrown(first)).to.include({ code: "upstream-failed" });
    const second = send(signed, never);
    (await eventually(() => submitted[1]))?.resolve(IN_BLOCK);
    await second;
  });

  it("looks for what became of a transfer among the blocks of thirty days", async () => {
    expect(await open().find(signed, never)).to.deep.equal({ state: "dead" });
  });

  it("signs the same authorization for a job each time, and another one for another job", async () => {
    const terms = { to: account.address, amount: "1000" };
    expect(await open().sign("a job", terms)).to.deep.equal(signed);
    expect((await open().sign("another job", terms)).authorization.nonce).not.to.equal(signed.authorization.nonce);
  });
});
