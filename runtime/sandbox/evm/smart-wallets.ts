import type { Hex } from "../../api/capabilities.ts";
import smartWalletFactory from "../contracts/SmartWalletFactory.bytecode.json" with { type: "json" };
import type { EvmChain } from "./chain.ts";

/** The factories of Coinbase Smart Wallet 1 and 1.1. They have these addresses on every public EVM chain. */
export const SMART_WALLET_FACTORIES: readonly Hex[] = [
  "0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a",
  "0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842",
];

/** Puts a small factory with the same public interface at each of these addresses, so that stock wallet libraries work. */
export async function placeSmartWalletFactories(chain: EvmChain): Promise<void> {
  const { SmartWalletFactory } = smartWalletFactory.runtimeBytecode;
  await Promise.all(SMART_WALLET_FACTORIES.map((at) => chain.rpc("anvil_setCode", [at, SmartWalletFactory])));
}
