import type { PublicClient } from "viem";
import type { Hex } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import type { EvmSender } from "../../evm/sender/sender.ts";
import type { Deployment } from "../deployment.ts";
import type { GasPayer } from "./gas-budget.ts";

/** The payer, and the gas terms of simulations and transactions of its payments. */
export interface GasTerms {
  readonly payer: GasPayer;
  /** The payer's code; "0x" for an ordinary account, and for a wallet that is not deployed yet. */
  readonly code: Hex;
  /** The payer's deployment; undefined for deployed wallets and for ordinary accounts. */
  readonly deployment?: Deployment;
  readonly mostGas: bigint;
  /** The fees of the simulation, so that it sees the transaction's gas price. */
  readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };
}

/** An ordinary payment uses 50 000 to 100 000. */
const MOST_GAS = 150_000n;
/** A contract verifies its own signatures (ERC-1271) at the treasury's cost: a passkey takes about 300 000. */
const MOST_GAS_OF_CONTRACTS = 400_000n;
/** A wallet's deployment takes 150 000 to 300 000 in addition. */
const MOST_GAS_OF_DEPLOYMENTS = 700_000n;

/**
 * @param parties.treasury the account that pays the gas.
 * @throws Problem `unavailable` when it has too little, which a simulation would report as the payment's fault; errors
 * of the chain or the sender's store.
 */
export async function readGasTerms(
  chain: PublicClient,
  parties: { readonly payer: Hex; readonly treasury: Hex; readonly deployment?: Deployment | undefined },
  sender: Pick<EvmSender, "market">,
  signal: AbortSignal,
): Promise<GasTerms> {
  const [code = "0x", balance, { baseFee, tip }] = await Promise.all([
    chain.getCode({ address: parties.payer }),
    chain.getBalance({ address: parties.treasury }),
    sender.market(signal),
  ]);
  const deployment = code === "0x" ? parties.deployment : undefined;
  const payer: GasPayer = {
    address: parties.payer.toLowerCase(),
    isContract: code !== "0x" || deployment !== undefined,
  };
  const mostGas = deployment ? MOST_GAS_OF_DEPLOYMENTS : payer.isContract ? MOST_GAS_OF_CONTRACTS : MOST_GAS;
  // The base fee may rise by a quarter before the simulation, without changing the gas price that it sees.
  const fees = { maxFeePerGas: (baseFee * 5n) / 4n + tip, maxPriorityFeePerGas: tip };
  if (balance < mostGas * fees.maxFeePerGas)
    throw new Problem("unavailable", `The treasury ${parties.treasury} has too little to pay for gas`);
  return { payer, code, ...(deployment && { deployment }), mostGas, fees };
}
