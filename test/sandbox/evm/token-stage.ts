import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { decodeEventLog, decodeFunctionResult, encodeFunctionData, type Hex, toHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import tokenJson from "../../../runtime/sandbox/contracts/SandboxToken.abi.json" with { type: "json" };
import { type EvmChain, startEvmChain } from "../../../runtime/sandbox/evm/chain.ts";
import { placeToken, type Token } from "../../../runtime/sandbox/evm/tokens.ts";
import { rail } from "../../support/chains/chains.ts";

/** The token's EIP-712 domain. */
export const domain = {
  name: "USD Coin",
  version: "2",
  chainId: 8453,
  verifyingContract: rail("base").asset as Hex,
};

export interface Authorization {
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
}

/** A chain with a token, a payer and a payee, and shortcuts for tests. */
export interface TokenStage {
  readonly chain: EvmChain;
  readonly token: Token;
  /** The node's own account, which sends every transaction: the token's owner. */
  readonly relayer: Hex;
  /** A new account with 1000. */
  createPayer(): Promise<PrivateKeyAccount>;
  /** Unix seconds of the latest block. */
  now(): Promise<bigint>;
  /** An authorization of 100 from the payer, valid now, with these changes. */
  authorize(payer: PrivateKeyAccount, changes?: Partial<Authorization>): Promise<Authorization>;
  /** The call's result. @throws Error with the revert text. */
  call(data: Hex, from?: Hex): Promise<Hex>;
  read(functionName: string, args?: readonly unknown[]): Promise<unknown>;
  /** Mines the call; answers the events. */
  send(data: Hex): Promise<unknown[]>;
  expectRevert(text: string, data: Hex, from?: Hex): Promise<void>;
}

/** The payee. */
export const payee = privateKeyToAccount(generatePrivateKey()).address;

const { abi } = tokenJson;

/** A call of the token. */
export const encode = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi, functionName, args });

/** Starts a chain of its own: `stage.chain.stop()` ends it. */
export async function openTokenStage(): Promise<TokenStage> {
  const chain = await startEvmChain({ chainId: domain.chainId });
  const token = await placeToken(chain, { ...domain, symbol: "USDC", decimals: 6, address: domain.verifyingContract });
  const [relayer] = (await chain.rpc("eth_accounts", [])) as [Hex];
  const to = token.address;

  const call = async (data: Hex, from = relayer): Promise<Hex> =>
    (await chain.rpc("eth_call", [{ from, to, data }, "latest"])) as Hex;
  const now = async (): Promise<bigint> =>
    BigInt(((await chain.rpc("eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex }).timestamp);

  return {
    chain,
    token,
    relayer,
    call,
    now,
    createPayer: async () => {
      const payer = privateKeyToAccount(generatePrivateKey());
      await token.mint(payer.address, 1000n);
      return payer;
    },
    authorize: async (payer, changes) => ({
      from: payer.address,
      to: payee,
      value: 100n,
      validAfter: 0n,
      validBefore: (await now()) + 300n,
      nonce: toHex(randomBytes(32)),
      ...changes,
    }),
    read: async (functionName, args = []) =>
      decodeFunctionResult({ abi, functionName, data: await call(encode(functionName, args)) }),
    send: async (data) => {
      const receipt = await chain.transact(to, data);
      expect(receipt.status).to.equal("0x1");
      return receipt.logs.map((log) => decodeEventLog({ abi, ...log }));
    },
    expectRevert: async (text, data, from) => {
      const message = await call(data, from).catch((error: Error) => error.message);
      expect(message).to.equal(`eth_call: execution reverted: ${text}`);
    },
  };
}

/** The EIP-712 signature of one of the token's messages. */
export function sign(signer: PrivateKeyAccount, primaryType: keyof typeof types, message: object): Promise<Hex> {
  return signer.signTypedData({ domain, types, primaryType, message: message as Record<string, unknown> });
}

/** The call of `transferWithAuthorization` with its signature as bytes; left out, the payer's own. */
export async function toTransfer(
  payer: PrivateKeyAccount,
  authorization: Authorization,
  signature?: Hex,
): Promise<Hex> {
  const signed = signature ?? (await sign(payer, "TransferWithAuthorization", authorization));
  return encode("transferWithAuthorization", [...Object.values(authorization), signed]);
}

const transferFields = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
];

const types = {
  TransferWithAuthorization: transferFields,
  ReceiveWithAuthorization: transferFields,
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" },
  ],
  Permit: [
    { name: "owner", type: "address" },
    { name: "spender", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
};
