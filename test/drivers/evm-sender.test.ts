import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { expect } from "chai";
import { type Hex, parseTransaction } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { createEvmClient } from "../../runtime/drivers/evm-client.ts";
import { createEvmSender, type EvmSender, type EvmSenderOptions } from "../../runtime/drivers/evm-sender.ts";
import { type EvmChain, startEvmChain } from "../../runtime/sandbox/evm-chain.ts";
import { createMemoryStore } from "../support/memory-store.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;
const NOBODY = "0x000000000000000000000000000000000000dEaD";
const never = new AbortController().signal;

interface Mined {
  readonly hash: Hex;
  readonly from: Hex;
  readonly nonce: number;
  readonly input: Hex;
  readonly maxFeePerGas: bigint;
  readonly gas: bigint;
}

describe("the EVM sender", () => {
  let chain: EvmChain;
  let account: PrivateKeyAccount;
  let store: ReturnType<typeof createMemoryStore>;
  const senders: EvmSender[] = [];
  let events: string[] = [];
  let proxy: RpcProxy;
  const note = (event: string): void => void events.push(event);

  before(async () => {
    chain = await startEvmChain({ chainId: 8453 });
    proxy = await startRpcProxy(chain.url);
  });
  after(async () => {
    await proxy.stop();
    await chain.stop();
  });

  beforeEach(async () => {
    account = privateKeyToAccount(generatePrivateKey());
    store = createMemoryStore();
    events = [];
    await chain.setBalance(account.address, ETHER);
  });
  afterEach(async () => {
    for (const sender of senders.splice(0)) sender.close();
    proxy.intervene(() => "pass");
    await chain.rpc("anvil_dropAllTransactions", []);
    await chain.rpc("evm_setAutomine", [true]);
    await chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(GWEI)]);
    await mine();
  });

  const toHex = (value: bigint): Hex => `0x${value.toString(16)}`;
  const mine = (): Promise<unknown> => chain.rpc("evm_mine", []);
  const text = (index: number): Hex => `0x${index.toString(16).padStart(64, "0")}`;

  function open(options: Partial<EvmSenderOptions> = {}): EvmSender {
    const sender = createEvmSender({
      client: createEvmClient({ url: proxy.url, chainId: 8453, retryDelayMs: 10 }),
      treasury: { evmAccount: async () => account },
      store,
      feeCapWei: ETHER / 100n,
      clock: Date,
      log: { info: note, warn: note, error: note },
      ...{ pollMs: 25, rebroadcastMs: 100, stuckMs: 150, includeMs: 15_000 },
      ...options,
    });
    senders.push(sender);
    return sender;
  }

  /** Everything of this account that is in the chain, in the order of the nonces. */
  async function history(): Promise<Mined[]> {
    const head = Number(await chain.rpc("eth_blockNumber", []));
    const numbers = Array.from({ length: head + 1 }, (_, number) => `0x${number.toString(16)}`);
    const blocks = await Promise.all(numbers.map((number) => chain.rpc("eth_getBlockByNumber", [number, true])));
    return (blocks as { transactions: Record<string, Hex>[] }[])
      .flatMap(({ transactions }) => transactions)
      .map(({ hash, from, nonce, input, maxFeePerGas, gas }) => ({
        ...{ hash: hash!, from: from!, input: input! },
        ...{ nonce: Number(nonce), maxFeePerGas: BigInt(maxFeePerGas ?? 0), gas: BigInt(gas!) },
      }))
      .filter(({ from }) => from.toLowerCase() === account.address.toLowerCase())
      .sort((a, b) => a.nonce - b.nonce);
  }

  const pooled = async (): Promise<Hex[]> => {
    const { pending, queued } = (await chain.rpc("txpool_content", [])) as Record<
      "pending" | "queued",
      Record<string, Record<string, { hash: Hex }>>
    >;
    return [pending, queued].flatMap((part) =>
      Object.values(part).flatMap((byNonce) => Object.values(byNonce).map(({ hash }) => hash)),
    );
  };

  it("sends what it is given, and says where it stands", async () => {
    const { hash, blockNumber, status, sentAt } = await open().send({ to: NOBODY, data: text(7), value: 3n }, never);
    const [sent] = await history();
    expect(sent).to.include({ hash, nonce: 0, input: text(7) });
    expect(Number(blockNumber)).to.equal(Number(await chain.rpc("eth_blockNumber", [])));
    expect(status).to.equal("success");
    expect(sentAt).to.be.closeTo(Date.now(), 15_000);
  });

  it("sends 500 at once through drops, gas x 20 and stuck transactions: no gap, no reuse, the cap held", async function () {
    this.timeout(60_000);
    await chain.rpc("evm_setAutomine", [false]);
    const feeCapWei = 30_000n * 60n * GWEI;
    const sender = open({ feeCapWei, includeMs: 50_000 });
    const all = Promise.all(
      Array.from({ length: 500 }, (_, index) => sender.send({ to: NOBODY, data: text(index) }, never)),
    );
    let done = false;
    let dropped = 0;
    void all.finally(() => {
      done = true;
    });
    for (let round = 0; !done; round++) {
      await sleep(100);
      if (round % 5 === 2)
        for (const hash of (await pooled()).slice(0, 5)) {
          dropped += (await chain.rpc("anvil_dropTransaction", [hash])) ? 1 : 0;
        }
      if (round > 3 && round < 20) await chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(20n * GWEI)]);
      if (round > 3 && round % 2 === 0) await mine();
    }
    const receipts = await all;
    expect(dropped, "drops").to.be.above(0);
    expect(events, "replacements").to.include("evm.replaced");
    const sent = await history();
    expect(sent.map(({ nonce }) => nonce)).to.deep.equal(Array.from({ length: 500 }, (_, nonce) => nonce));
    expect(sent.map(({ input }) => input).sort()).to.deep.equal(Array.from({ length: 500 }, (_, index) => text(index)));
    expect(new Set(receipts.map(({ hash }) => hash))).to.deep.equal(new Set(sent.map(({ hash }) => hash)));
    expect(sent.filter(({ maxFeePerGas, gas }) => maxFeePerGas * gas > feeCapWei)).to.deep.equal([]);
    expect(payloadsByNonce().filter((payloads) => payloads.size !== 1)).to.deep.equal([]);
  });

  it("shares one key between two processes on one store without a collision", async () => {
    const [one, two] = [open(), open()];
    await Promise.all(
      Array.from({ length: 120 }, (_, index) => (index % 2 ? one : two).send({ to: NOBODY, data: text(index) }, never)),
    );
    const sent = await history();
    expect(sent.map(({ nonce }) => nonce)).to.deep.equal(Array.from({ length: 120 }, (_, nonce) => nonce));
    expect(new Set(sent.map(({ input }) => input)).size).to.equal(120);
  });

  it("sends a transaction once when the node takes it and its answer is lost", async () => {
    let lost = 0;
    proxy.intervene((method) => (method === "eth_sendRawTransaction" && lost++ === 0 ? "lose-answer" : "pass"));
    const { hash } = await open().send({ to: NOBODY, data: text(1) }, never);
    expect((await history()).map((sent) => sent.hash)).to.deep.equal([hash]);
  });

  it("hands the same bytes over again when the node never got them", async () => {
    let lost = 0;
    proxy.intervene((method) => (method === "eth_sendRawTransaction" && lost++ < 6 ? "lose" : "pass"));
    const { hash } = await open({ stuckMs: 10_000 }).send({ to: NOBODY, data: text(1) }, never);
    expect((await history()).map((sent) => sent.hash)).to.deep.equal([hash]);
    expect(store.entries.size, "signed forms").to.equal(1);
  });

  it("takes up after a crash what was signed and not broadcast, and leaves no gap", async () => {
    proxy.intervene((method) => (method === "eth_sendRawTransaction" ? "lose" : "pass"));
    const crashed = open();
    const left = [await crashed.submit({ to: NOBODY, data: text(1) }, never)];
    left.push(await crashed.submit({ to: NOBODY, data: text(2) }, never));
    crashed.close();
    proxy.intervene(() => "pass");
    await open({ rebroadcastMs: 60_000 }).send({ to: NOBODY, data: text(3) }, never);
    const sent = await history();
    expect(sent.map(({ input }) => input)).to.deep.equal([text(1), text(2), text(3)]);
    expect(sent.slice(0, 2).map(({ hash }) => hash)).to.deep.equal(left.map(({ hash }) => hash));
  });

  it("takes up what another process left behind while it was itself at work", async () => {
    const [living, other] = [open(), open()];
    await living.send({ to: NOBODY, data: text(1) }, never);
    proxy.intervene((method) => (method === "eth_sendRawTransaction" ? "lose" : "pass"));
    await other.submit({ to: NOBODY, data: text(2) }, never);
    other.close();
    proxy.intervene(() => "pass");
    await living.send({ to: NOBODY, data: text(3) }, never);
    expect((await history()).map(({ input }) => input)).to.deep.equal([text(1), text(2), text(3)]);
  });

  it("fills a hole that other hands left, so that nothing waits behind it for ever", async () => {
    await chain.rpc("evm_setAutomine", [false]);
    const foreign = await account.signTransaction({
      ...{ type: "eip1559", chainId: 8453, nonce: 0, to: NOBODY, gas: 21_000n, maxFeePerGas: 5n * GWEI },
    });
    const hash = await chain.rpc("eth_sendRawTransaction", [foreign]);
    const ours = open().send({ to: NOBODY, data: text(1) }, never);
    await until(async () => (await pooled()).length === 2);
    await chain.rpc("anvil_dropTransaction", [hash]);
    await chain.rpc("evm_setAutomine", [true]);
    await ours;
    expect((await history()).map(({ nonce, input }) => [nonce, input])).to.deep.equal([
      [0, "0x"],
      [1, text(1)],
    ]);
  });

  it("goes on behind transactions that other hands sent with its key", async () => {
    const sender = open();
    await sender.send({ to: NOBODY, data: text(1) }, never);
    const foreign = await account.signTransaction({
      ...{ type: "eip1559", chainId: 8453, nonce: 1, to: NOBODY, gas: 21_000n, maxFeePerGas: 5n * GWEI },
    });
    await chain.rpc("eth_sendRawTransaction", [foreign]);
    await sleep(600);
    await sender.send({ to: NOBODY, data: text(2) }, never);
    expect((await history()).map(({ input }) => input)).to.deep.equal([text(1), "0x", text(2)]);
  });

  it("says so when other hands took the very nonce that it had signed for", async () => {
    proxy.intervene((method) => (method === "eth_sendRawTransaction" ? "lose" : "pass"));
    const ours = open().send({ to: NOBODY, data: text(1) }, never);
    const refusal = ours.catch((error: unknown) => error);
    await until(() => store.entries.size > 0);
    const foreign = await account.signTransaction({
      ...{ type: "eip1559", chainId: 8453, nonce: 0, to: NOBODY, gas: 21_000n, maxFeePerGas: 5n * GWEI },
    });
    await chain.rpc("eth_sendRawTransaction", [foreign]);
    expect(await refusal).to.include({ code: "upstream-failed" });
    expect(events).to.include("evm.nonce-lost");
  });

  it("gives a nonce back when the account cannot pay, and says that it is not available", async () => {
    await chain.setBalance(account.address, 1n);
    const sender = open();
    const refusal = await sender
      .send({ to: NOBODY, data: text(1), gas: 30_000n }, never)
      .catch((error: unknown) => error);
    expect(refusal).to.include({
      code: "unavailable",
      message: "The service cannot pay for a transaction on Base now",
    });
    await chain.setBalance(account.address, ETHER);
    await sender.send({ to: NOBODY, data: text(2) }, never);
    expect((await history()).map(({ nonce, input }) => [nonce, input])).to.deep.equal([[0, text(2)]]);
  });

  it("sends nothing while the chain asks for more than the cap", async () => {
    await chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(500n * GWEI)]);
    await mine();
    const sender = open({ feeCapWei: 30_000n * 100n * GWEI });
    const refusal = await sender.send({ to: NOBODY, data: text(1) }, never).catch((error: unknown) => error);
    expect(refusal).to.include({
      ...{ code: "unavailable", message: "Transactions on Base cost more now than this service may pay" },
    });
    expect(store.entries.size, "signed forms").to.equal(0);
  });

  it("never exceeds the cap for what is stuck, and sends it on when the price has come down", async () => {
    await chain.rpc("evm_setAutomine", [false]);
    const feeCapWei = 30_000n * 8n * GWEI;
    const sender = open({ feeCapWei });
    const waiting = sender.send({ to: NOBODY, data: text(1), gas: 30_000n }, never);
    await until(() => store.entries.size > 0);
    while (!events.includes("evm.fee-cap")) {
      await chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(100n * GWEI)]);
      await mine();
      await sleep(50);
    }
    await chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(GWEI)]);
    await mine();
    await chain.rpc("evm_setAutomine", [true]);
    await waiting;
    const [sent] = await history();
    expect(sent!.maxFeePerGas * sent!.gas <= feeCapWei).to.equal(true);
  });

  it("leaves no gap when a caller goes away, before or after the signature", async () => {
    await chain.rpc("evm_setAutomine", [false]);
    const sender = open();
    const early = AbortSignal.abort(new Error("gone early"));
    expect(await sender.send({ to: NOBODY, data: text(1) }, early).catch(String)).to.equal("Error: gone early");
    const late = new AbortController();
    const left = sender.send({ to: NOBODY, data: text(2) }, late.signal).catch(String);
    await until(() => store.entries.size > 0);
    late.abort(new Error("gone late"));
    expect(await left).to.equal("Error: gone late");
    const stayed = sender.send({ to: NOBODY, data: text(3) }, never);
    await until(() => store.entries.size === 2);
    await chain.rpc("evm_setAutomine", [true]);
    await mine();
    await stayed;
    expect((await history()).map(({ nonce, input }) => [nonce, input])).to.deep.equal([
      [0, text(2)],
      [1, text(3)],
    ]);
  });

  for (const depth of [1, 2, 3])
    it(`believes an inclusion only as deep as asked, and sends again what a reorganisation of depth ${depth} took back`, async () => {
      await chain.rpc("evm_setAutomine", [false]);
      const waiting = open({ confirmations: depth + 1 }).send({ to: NOBODY, data: text(1) }, never);
      await until(async () => (await pooled()).length > 0);
      for (let block = 0; block < depth; block++) await mine();
      expect(await history()).to.have.length(1);
      expect(await Promise.race([waiting, sleep(200, "waits")])).to.equal("waits");
      await chain.rpc("anvil_reorg", [depth, []]);
      expect(await history()).to.have.length(0);
      const [included] = await Promise.all([waiting, mineUntil(waiting)]);
      const now = await history();
      expect(now.map(({ input }) => input)).to.deep.equal([text(1)]);
      expect(included.hash).to.equal(now[0]?.hash);
    });

  it("brings back what a reorganisation took, also after nobody waits for it any more", async () => {
    await open().send({ to: NOBODY, data: text(1) }, never);
    await chain.rpc("evm_setAutomine", [false]);
    await chain.rpc("anvil_reorg", [1, []]);
    expect(await history()).to.have.length(0);
    await until(async () => {
      await mine();
      return (await history()).length === 1;
    });
    expect((await history()).map(({ input }) => input)).to.deep.equal([text(1)]);
  });

  it("reports an RPC outage as such, without the secret in the RPC's URL", async () => {
    const url = "http://operator:hunter2@127.0.0.1:9/v2/secret-key";
    const client = createEvmClient({ url, chainId: 8453, retries: 0 });
    const error = await open({ client })
      .send({ to: NOBODY }, never)
      .catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: "upstream-failed", message: "The Base chain could not be asked" });
    expect(inspect(error, { depth: 9, showHidden: true })).not.to.match(/hunter2|secret-key/);
  });

  async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await holds())) await sleep(10);
  }

  async function mineUntil(settled: Promise<unknown>): Promise<void> {
    let done = false;
    void settled.finally(() => {
      done = true;
    });
    while (!done) {
      await mine();
      await sleep(50);
    }
  }

  /** For every nonce, the different things that were ever signed for it. */
  function payloadsByNonce(): Set<string>[] {
    const found = new Map<number, Set<string>>();
    for (const { text } of store.entries.values() as Iterable<{ text: string }>) {
      const { nonce = 0, to, data, value } = parseTransaction((JSON.parse(text) as { raw: `0x02${string}` }).raw);
      const payloads = found.get(nonce) ?? new Set();
      found.set(nonce, payloads.add(`${to} ${data} ${value}`));
    }
    return [...found.values()];
  }
});
