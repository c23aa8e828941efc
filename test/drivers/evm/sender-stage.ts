import type { Hex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { createEvmClient } from "../../../runtime/drivers/evm/client.ts";
import { createEvmSender, type EvmSender, type EvmSenderOptions } from "../../../runtime/drivers/evm/sender/sender.ts";
import { type EvmChain, startEvmChain } from "../../../runtime/sandbox/evm/chain.ts";
import { type RpcProxy, startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

export const GWEI = 10n ** 9n;
export const ETHER = 10n ** 18n;
export const NOBODY = "0x000000000000000000000000000000000000dEaD";
export const never: AbortSignal = new AbortController().signal;

export const toHex = (value: bigint): Hex => `0x${value.toString(16)}`;

/** Data by which a transaction is known again. */
export const text = (index: number): Hex => `0x${index.toString(16).padStart(64, "0")}`;

/** A transaction that is in the chain. */
export interface Mined {
  readonly hash: Hex;
  readonly from: Hex;
  readonly nonce: number;
  readonly input: Hex;
  readonly maxFeePerGas: bigint;
  readonly gas: bigint;
}

/** A chain for all tests; for each test an account with one ether, and a store of its signed forms. */
export interface SenderStage {
  chain: EvmChain;
  /** Stands between the senders and the chain. */
  proxy: RpcProxy;
  account: PrivateKeyAccount;
  store: ReturnType<typeof createMemoryStore>;
  /** What the senders have noted. */
  events: string[];
  /** A sender of the account, which is closed after the test. */
  open(options?: Partial<EvmSenderOptions>): EvmSender;
  mine(): Promise<unknown>;
  /** Makes a block that takes nothing of what waits: its base fee is too high. */
  mineWithout(): Promise<unknown>;
  /** Everything of this account that is in the chain, in the order of the nonces. */
  history(): Promise<Mined[]>;
  /** The hashes of what waits in the node. */
  pooled(): Promise<Hex[]>;
}

/** To be called in a `describe`: starts the chain before its tests and stops it after them. */
export function stageSender(): SenderStage {
  const senders: EvmSender[] = [];
  const note = (event: string): void => void stage.events.push(event);
  const mine = (): Promise<unknown> => stage.chain.rpc("evm_mine", []);
  const mineWithout = async (): Promise<unknown> => {
    await stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(50n * GWEI)]);
    await mine();
    return stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(GWEI)]);
  };
  const stage = { open, mine, mineWithout, history, pooled } as SenderStage; // The rest is there before the first test.

  before(async () => {
    stage.chain = await startEvmChain({ chainId: 8453 });
    stage.proxy = await startRpcProxy(stage.chain.url);
  });
  after(async () => {
    await stage.proxy.stop();
    await stage.chain.stop();
  });

  beforeEach(async () => {
    stage.account = privateKeyToAccount(generatePrivateKey());
    stage.store = createMemoryStore();
    stage.events = [];
    await stage.chain.setBalance(stage.account.address, ETHER);
  });
  afterEach(async () => {
    for (const sender of senders.splice(0)) sender.close();
    stage.proxy.intervene(() => "pass");
    await stage.chain.rpc("anvil_dropAllTransactions", []);
    await stage.chain.rpc("evm_setAutomine", [true]);
    await stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(GWEI)]);
    await mine();
  });

  function open(options: Partial<EvmSenderOptions> = {}): EvmSender {
    const { proxy, account, store } = stage;
    const sender = createEvmSender({
      client: createEvmClient({ url: proxy.url, chainId: 8453, retryDelayMs: 10, timeoutMs: 60_000 }),
      treasury: { evmAccount: async () => account },
      store,
      feeCapWei: ETHER / 100n,
      clock: Date,
      log: { info: note, warn: note, error: note },
      pollMs: 25,
      rebroadcastMs: 100,
      stuckMs: 150,
      includeMs: 45_000,
      ...options,
    });
    senders.push(sender);
    return sender;
  }

  async function history(): Promise<Mined[]> {
    const { chain, account } = stage;
    const head = Number(await chain.rpc("eth_blockNumber", []));
    const numbers = Array.from({ length: head + 1 }, (_, number) => `0x${number.toString(16)}`);
    const blocks = await Promise.all(numbers.map((number) => chain.rpc("eth_getBlockByNumber", [number, true])));
    return (blocks as { transactions: Record<string, Hex>[] }[])
      .flatMap(({ transactions }) => transactions)
      .map(({ hash, from, nonce, input, maxFeePerGas, gas }) => ({
        hash: hash!,
        from: from!,
        input: input!,
        nonce: Number(nonce),
        maxFeePerGas: BigInt(maxFeePerGas ?? 0),
        gas: BigInt(gas!),
      }))
      .filter(({ from }) => from.toLowerCase() === account.address.toLowerCase())
      .sort((a, b) => a.nonce - b.nonce);
  }

  async function pooled(): Promise<Hex[]> {
    const { pending, queued } = (await stage.chain.rpc("txpool_content", [])) as Record<
      "pending" | "queued",
      Record<string, Record<string, { hash: Hex }>>
    >;
    return [pending, queued].flatMap((part) =>
      Object.values(part).flatMap((byNonce) => Object.values(byNonce).map(({ hash }) => hash)),
    );
  }

  return stage;
}
