import { ExactEvmScheme } from "@x402/evm/exact/client";
import { expect } from "chai";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import type { Clock } from "../../../runtime/api/capabilities.ts";
import type { SmartWalletsManifest } from "../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { Facilitator, PaymentPayload, PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import { createEvmClient } from "../../../runtime/drivers/evm/client.ts";
import { createEvmSender, type EvmSender } from "../../../runtime/drivers/evm/sender/sender.ts";
import { createLocalFacilitator } from "../../../runtime/drivers/facilitator/local/local.ts";
import type { TokenFacts } from "../../../runtime/drivers/facilitator/local/token.ts";
import { type EvmChain, startEvmChain } from "../../../runtime/sandbox/evm/chain.ts";
import { placeToken, type Token } from "../../../runtime/sandbox/evm/tokens.ts";
import { rail } from "../../support/chains/chains.ts";
import { type RpcProxy, startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

export const GWEI = 10n ** 9n;
export const ETHER = 10n ** 18n;
export const never: AbortSignal = new AbortController().signal;
export const seller = "0x5e11e40000000000000000000000000000005e11";
export const polygon = rail("polygon");
/** A second token with the same words as the first. */
const second = "0x431d5dff03120afa4bdf332c61a6e1766ef37bdb";
const { name, version } = polygon.domain!;
export const jpycFacts: TokenFacts = { asset: polygon.asset, decimals: 18, name, version };

export const offer: PaymentRequirements = {
  scheme: "exact",
  network: "eip155:137",
  asset: polygon.asset,
  amount: String(ETHER),
  payTo: seller,
  maxTimeoutSeconds: 300,
  extra: { name, version },
};

export const treasury: PrivateKeyAccount = privateKeyToAccount(generatePrivateKey());

export interface FacilitatorTerms {
  /** How long a settlement waits for its confirmation. */
  readonly confirmationMs?: number;
  readonly smartWallets?: SmartWalletsManifest;
  /** After how long without a block a transaction is replaced at a higher fee: by default, after all tests. */
  readonly stuckMs?: number;
  readonly clock?: Clock;
}

/** A chain with the token for all tests; for each test a buyer, and a sender that is closed after it. */
export interface FacilitatorStage {
  chain: EvmChain;
  /** Stands between the facilitator and the chain. */
  proxy: RpcProxy;
  jpyc: Token;
  buyer: PrivateKeyAccount;
  /** Of the facilitator that was opened last. */
  sender: EvmSender;
  open(store?: ReturnType<typeof createMemoryStore>, terms?: FacilitatorTerms): Facilitator;
  pay(accepted?: PaymentRequirements, from?: ConstructorParameters<typeof ExactEvmScheme>[0]): Promise<PaymentPayload>;
}

/** To be called in a `describe`: starts the chain before its tests and stops it after them. */
export function stageFacilitator(): FacilitatorStage {
  const stage = { open, pay } as FacilitatorStage; // The rest is there before the test needs it.
  const senders: EvmSender[] = [];
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);

  before(async () => {
    process.on("unhandledRejection", note);
    const chain = await startEvmChain({ chainId: 137 });
    stage.chain = chain;
    stage.proxy = await startRpcProxy(chain.url);
    stage.jpyc = await placeToken(chain, { ...jpycFacts, address: polygon.asset, symbol: polygon.symbol });
    await placeToken(chain, { ...jpycFacts, address: second, symbol: polygon.symbol });
    await chain.setBalance(treasury.address, 100n * ETHER);
  });
  after(async () => {
    await stage.proxy.stop();
    await stage.chain.stop();
    process.off("unhandledRejection", note);
    expect(unhandled).to.deep.equal([]);
  });
  beforeEach(async () => {
    stage.buyer = privateKeyToAccount(generatePrivateKey());
    await stage.jpyc.mint(stage.buyer.address, 1000n * ETHER);
  });
  afterEach(async () => {
    stage.proxy.intervene(() => "pass");
    await stage.chain.rpc("anvil_dropAllTransactions", []);
    await stage.chain.rpc("evm_setAutomine", [true]);
    for (const sender of senders.splice(0)) sender.close();
    expect(unhandled).to.deep.equal([]);
  });

  function open(store = createMemoryStore(), terms: FacilitatorTerms = {}) {
    const { confirmationMs = 45_000, smartWallets, stuckMs = 600_000, clock = Date } = terms;
    const client = createEvmClient({ url: stage.proxy.url, chainId: 137, retries: 1, retryDelayMs: 5 });
    const sender = createEvmSender({
      client,
      treasury: { evmAccount: async () => treasury },
      store,
      feeCapWei: ETHER,
      clock,
      log: silentLog,
      pollMs: 25,
      rebroadcastMs: 100,
      stuckMs,
    });
    stage.sender = sender;
    senders.push(sender);
    return createLocalFacilitator({
      network: "eip155:137",
      client,
      sender,
      treasury: { evmAddress: async () => treasury.address },
      store,
      tokens: [jpycFacts, { ...jpycFacts, asset: second }],
      confirmationMs,
      smartWallets,
    });
  }

  async function pay(
    accepted = offer,
    from: ConstructorParameters<typeof ExactEvmScheme>[0] = stage.buyer,
  ): Promise<PaymentPayload> {
    const requirements = accepted as Parameters<ExactEvmScheme["createPaymentPayload"]>[1];
    const { payload } = await new ExactEvmScheme(from).createPaymentPayload(2, requirements);
    return { x402Version: 2, accepted, payload };
  }

  return stage;
}

/** The payment with these parts of its authorization changed after the signature. */
export const change = (payment: PaymentPayload, parts: object): PaymentPayload => ({
  ...payment,
  payload: { ...payment.payload, authorization: { ...(payment.payload.authorization as object), ...parts } },
});
