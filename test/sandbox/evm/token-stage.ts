import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { type Abi, decodeEventLog, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi, toHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
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

/** What USDC's FiatToken 2.2 has, as far as the tests use it. */
const abi: Abi = parseAbi([
  "function initialize(string name, string symbol, string version, uint8 decimals)",
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function version() view returns (string)",
  "function decimals() view returns (uint8)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function mint(address to, uint256 value) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function transferFrom(address from, address to, uint256 value) returns (bool)",
  "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
  "function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
]);

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
