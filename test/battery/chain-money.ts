import { createPublicClient, createWalletClient, type Hex, http, parseAbi } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { authorizationOf, type FacilitatorRequest, type Money, type SettleBody } from "./money.ts";

export interface ChainMoneyOptions {
  /** A real facilitator, to which every question is forwarded. */
  readonly facilitator: string;
  /** The chain's JSON-RPC URL, for cancellations. */
  readonly rpcUrl: string;
  /** The account that signed a payment; it needs gas to cancel one. */
  readonly accountOf: (payer: Hex) => PrivateKeyAccount | undefined;
}

const ABI = parseAbi(["function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)"]);
const CancelAuthorization = [
  { name: "authorizer", type: "address" },
  { name: "nonce", type: "bytes32" },
] as const;

/** Money on a chain, moved by a real facilitator: for sellers that look at the chain themselves. */
export function createChainMoney({ facilitator, rpcUrl, accountOf }: ChainMoneyOptions): Money {
  const ask = async (path: string, body?: object): Promise<object> => {
    const init = body && {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    };
    return (await fetch(facilitator + path, init)).json() as Promise<object>;
  };
  return {
    supported: () => ask("/supported"),
    verify: (request) => ask("/verify", { x402Version: 2, ...request }),
    settle: async (request) => (await ask("/settle", { x402Version: 2, ...request })) as SettleBody,
    cancel,
  };

  /** FiatToken's cancelAuthorization (EIP-3009), sent by the payer. */
  async function cancel({ paymentPayload, paymentRequirements }: FacilitatorRequest): Promise<void> {
    const { from: authorizer, nonce } = authorizationOf(paymentPayload);
    const { asset, network, extra } = paymentRequirements;
    const account = accountOf(authorizer);
    if (!account) throw new Error(`The battery has no key of ${authorizer}`);
    const signature = await account.signTypedData({
      domain: {
        name: String(extra?.name),
        version: String(extra?.version),
        chainId: Number(network.split(":")[1]),
        verifyingContract: asset as Hex,
      },
      types: { CancelAuthorization },
      primaryType: "CancelAuthorization",
      message: { authorizer, nonce },
    });
    const transport = http(rpcUrl);
    const wallet = createWalletClient({ account, transport });
    const call = { address: asset as Hex, abi: ABI, functionName: "cancelAuthorization" } as const;
    const hash = await wallet.writeContract({ ...call, args: [authorizer, nonce, signature], chain: null });
    const { status } = await createPublicClient({ transport }).waitForTransactionReceipt({ hash, pollingInterval: 50 });
    if (status !== "success") throw new Error(`The cancellation of an authorization was reverted: ${hash}`);
  }
}
