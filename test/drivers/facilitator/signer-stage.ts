import { type Hex, type PublicClient, parseAbi } from "viem";
import type { EvmSender, EvmSubmission } from "../../../runtime/drivers/evm/sender/sender.ts";
import type { EvmInclusion } from "../../../runtime/drivers/evm/sender/signer.ts";
import type { Deployment } from "../../../runtime/drivers/facilitator/deployment.ts";
import type { Coverage } from "../../../runtime/drivers/facilitator/local/coverage.ts";
import type { DeploymentQuota } from "../../../runtime/drivers/facilitator/local/deployment-quota.ts";
import type { GasBudget, GasPlace } from "../../../runtime/drivers/facilitator/local/gas-budget.ts";
import { readGasTerms } from "../../../runtime/drivers/facilitator/local/gas-terms.ts";
import { createLocalSigner, type Trace } from "../../../runtime/drivers/facilitator/local/signer.ts";
import { never } from "./stage.ts";

export const TREASURY: Hex = "0x1111111111111111111111111111111111111111";
export const PAYER: Hex = "0xAbCdEf0000000000000000000000000000000001";
export const TOKEN: Hex = "0x2222222222222222222222222222222222222222";
export const OTHER: Hex = "0x3333333333333333333333333333333333333333";
export const HASH: Hex = `0x${"ab".repeat(32)}`;
export const abi = parseAbi(["function pay(uint256 amount)", "function transferWithAuthorization(uint256 amount)"]);

/** What the chain, the sender and the budget say; a test changes a word of it. */
export interface World {
  code: Hex | undefined;
  balance: bigint;
  estimate: bigint | Error;
  submit: Error | undefined;
  release: Error | undefined;
  hasPlace: boolean;
  hasWallets: boolean;
  /** How many amounts of the payer are in flight. */
  inFlight: number;
  inclusion: Promise<EvmInclusion>;
}

/** A signer's surroundings, and what it has done in them. */
export type SignerStage = ReturnType<typeof openSignerStage>;

export const toInclusion = (status: EvmInclusion["status"]): EvmInclusion =>
  ({ status, hash: HASH, logs: [], feeWei: 7n }) as unknown as EvmInclusion; // No other member is read here.

export function openSignerStage() {
  const world: World = {
    code: undefined,
    balance: 10n ** 18n,
    estimate: 100_000n,
    submit: undefined,
    release: undefined,
    hasPlace: true,
    hasWallets: true,
    inFlight: 0,
    inclusion: Promise.resolve(toInclusion("success")),
  };
  const trace: Trace = {};
  const did: string[] = [];
  const asked: Record<string, unknown>[] = [];
  const sent: Parameters<EvmSender["submit"]>[0][] = [];
  const chain = {
    getCode: async ({ address }: { address: Hex }) => (address === OTHER ? "0x0e" : world.code),
    getBalance: async () => world.balance,
    readContract: async (call: Record<string, unknown>) => void asked.push(call),
    async estimateGas(call: Record<string, unknown>) {
      asked.push(call);
      if (world.estimate instanceof Error) throw world.estimate;
      return world.estimate;
    },
    waitForTransactionReceipt: async ({ hash }: { hash: Hex }) => ({ status: "success", hash, logs: ["of the chain"] }),
  } as unknown as PublicClient; // As much of a client as the signer uses.
  const sender = {
    market: async () => ({ baseFee: 101n, tip: 3n }),
    async submit(transaction: Parameters<EvmSender["submit"]>[0]) {
      if (world.submit) throw world.submit;
      sent.push(transaction);
      return { hash: HASH, included: () => world.inclusion } as unknown as EvmSubmission;
    },
  } as unknown as EvmSender;
  const place: GasPlace = {
    async release() {
      if (world.release) throw world.release;
      did.push("release");
    },
    lose: async ({ hash, feeWei }) => void did.push(`lose ${hash} ${feeWei}`),
  };
  const budget = {
    reserve: async () => (world.hasPlace ? place : undefined),
    trust: async () => void did.push("trust"),
  } as unknown as GasBudget;
  const coverage: Coverage = {
    async hold({ release, lose }) {
      world.inFlight += 1;
      const free = (): void => {
        world.inFlight -= 1;
      };
      return { release: () => release().then(free), lose: (loss) => lose(loss).then(free) };
    },
  };
  const quota = {
    take: async () => world.hasWallets,
    giveBack: async (payer: string) => void did.push(`give back ${payer}`),
  } as unknown as DeploymentQuota;
  const read = (deployment?: Deployment) =>
    readGasTerms(chain, { payer: PAYER, treasury: TREASURY, deployment }, sender, never);
  const open = async (deployment?: Deployment) => {
    const fixed = {
      confirmationMs: 1000,
      signal: never,
      trace,
      authorization: "once",
      paymentId: "payer:nonce",
      value: "1",
      validBefore: "0",
      network: "eip155:8453",
    };
    return createLocalSigner({
      ...fixed,
      chain,
      sender,
      budget,
      coverage,
      quota,
      address: TREASURY,
      assets: new Map([[TOKEN, 6]]),
      terms: await read(deployment),
    });
  };
  const write = async (deployment?: Deployment) =>
    (await open(deployment)).writeContract({ address: TOKEN, abi, functionName: "pay", args: [5n] });
  return { world, trace, did, asked, sent, read, open, write };
}
