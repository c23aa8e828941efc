import { encodeFunctionData, erc20Abi, type Hex, pad, parseAbi } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { type EvmChain, startEvmChain } from "../../../runtime/sandbox/evm/chain.ts";
import { placeToken, type Token } from "../../../runtime/sandbox/evm/tokens.ts";
import { base, PRICE } from "./rail.ts";

/** The chain of the rail `base` with USDC on it. */
export interface RefundStage {
  readonly chain: EvmChain;
  readonly token: Token;
  /** A new treasury with so many atomic units and so many wei. */
  fund(units?: bigint, wei?: bigint): Promise<PrivateKeyAccount & { readonly key: Hex }>;
  /** Moves so many atomic units of this account elsewhere. */
  spend(account: Hex, units: bigint): Promise<void>;
  /** The transactions in which the chain holds a transfer of the token to this address. */
  transfersTo(address: string): Promise<Hex[]>;
  /** Cancels an authorization that the account has signed. */
  cancel(account: PrivateKeyAccount, nonce: Hex): Promise<void>;
}

export async function openRefundStage(): Promise<RefundStage> {
  const { asset, symbol, decimals, domain } = base;
  const chain = await startEvmChain({ chainId: 8453 });
  const token = await placeToken(chain, { address: asset, symbol, decimals, ...domain! });
  let minting = Promise.resolve(); // The chain's own account sends one transaction at a time.
  return {
    chain,
    token,
    async fund(units = 1000n * PRICE, wei = 10n ** 20n) {
      const key = generatePrivateKey();
      const account = privateKeyToAccount(key);
      minting = minting.then(() => (units > 0n ? token.mint(account.address, units) : undefined));
      await Promise.all([minting, chain.setBalance(account.address, wei)]);
      return { ...account, key };
    },
    async spend(from, units) {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [ELSEWHERE, units] });
      await chain.rpc("anvil_impersonateAccount", [from]);
      await chain.rpc("eth_sendTransaction", [{ from, to: asset, data }]);
      await chain.rpc("anvil_stopImpersonatingAccount", [from]);
    },
    async transfersTo(address) {
      const topics = [TRANSFER, null, pad(address.toLowerCase() as Hex)];
      const logs = await chain.rpc("eth_getLogs", [{ address: asset, topics, fromBlock: "0x0", toBlock: "latest" }]);
      return (logs as { transactionHash: Hex }[]).map(({ transactionHash }) => transactionHash);
    },
    async cancel(account, nonce) {
      const signature = await account.signTypedData({
        domain: { ...domain, chainId: 8453, verifyingContract: asset as Hex },
        types: CANCELLATION,
        primaryType: "CancelAuthorization",
        message: { authorizer: account.address, nonce },
      });
      const args = [account.address, nonce, signature] as const;
      await chain.transact(
        asset as Hex,
        encodeFunctionData({ abi: CANCEL, functionName: "cancelAuthorization", args }),
      );
    },
  };
}

const ELSEWHERE = "0x00000000000000000000000000000000000000AA";

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

const CANCELLATION = {
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;
const CANCEL = parseAbi(["function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)"]);
