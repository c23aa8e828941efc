import { expect } from "chai";
import transaction from "../../../plugins/transaction/index.ts";
import type { RpcAnswer } from "../../../runtime/api/plugin.ts";
import { offline, type Replay, replay, replayAlways } from "../../support/sources/replay.ts";
import { createHost, faultsOf, problemOf, type Reach, readManifest, type Serve, serve } from "../host.ts";

const CHAINS = ["base", "ethereum", "solana"] as const;
type Chain = (typeof CHAINS)[number];

const URLS = { base: "https://base.test", ethereum: "https://ethereum.test", solana: "https://solana.test" };
const TX_HASHES = {
  base: "0x07471adfe8f4ec553c1199f495be97fc8be8e0626ae307281c22534460184ed1",
  ethereum: "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
  solana: "4G24SgaZ3gU92HAB8xwSVg6WXS7NcGtUpHMnQ5RTwBw9bG5x8y6co5TzqqPXbExovY2NAuPjE9393TCHFZVhS8K9",
};
const UNKNOWN = { base: `0x${"1".padStart(64, "0")}`, ethereum: `0x${"1".padStart(64, "0")}`, solana: "1".repeat(64) };
const NO_SOLANA = { slot: null, block_time: null, fee_lamports: null, signers: null, program_calls: null };
const NO_EVM = {
  block_number: null,
  timestamp: null,
  from_address: null,
  to_address: null,
  value_wei: null,
  value_eth: null,
  gas_used: null,
  input_calldata_hex: null,
};

const record = (chain: Chain, ...cases: string[]): Replay =>
  replay(URLS[chain], `plugins/transaction/recordings/${chain}/transactions.json`, cases);

const start = (reach: Reach = {}): Promise<Serve> =>
  serve("decode_tx", transaction, createHost({}, { urls: URLS, retries: 0, ...reach }));

describe("a decoded transaction", () => {
  offline();

  it("is that of its manifest's examples, from the recordings", async () => {
    for (const chain of CHAINS) {
      const file = `plugins/transaction/recordings/${chain}/transactions.json`;
      replayAlways(URLS[chain], file, ["success"]);
    }
    const ask = await start();
    const { examples } = readManifest("decode_tx");
    const answers = [];
    for (const { input } of examples) answers.push(await ask(input));
    expect(answers[0]).to.deep.equal(examples[0]?.output);
    expect(answers.map(({ chain }) => chain)).to.deep.equal(["ethereum", "solana", "base"]);
  });

  it("has no outcome where its block is older than Byzantium", async () => {
    const asked = record("ethereum", "success");
    const answer = await (await start())({ chain: "ethereum", tx_hash: TX_HASHES.ethereum });
    expect(answer).to.include({ status: null, gas_used: 21000, value_eth: "0.000000000000031337" });
    asked.assertDone();
  });

  it("is sent to nobody when it creates a contract", async () => {
    record("base", "success");
    const answer = await (await start())({ chain: "base", tx_hash: TX_HASHES.base });
    expect(answer).to.deep.include({
      chain: "base",
      tx_hash: TX_HASHES.base,
      block_number: 5022,
      timestamp: 1686799391,
      status: 1,
      from_address: "0x05f32B3cC3888453ff71B01135B34FF8e41263F2",
      to_address: null,
      gas_used: 872776,
      value_wei: "0",
      value_eth: "0",
      native_currency: "ETH",
      ...NO_SOLANA,
    });
    expect(answer.input_calldata_hex).to.match(/^0x6080604052[0-9a-f]{7600,}$/);
  });

  it("can be a deposit from L1, which nobody signed on Base", async () => {
    record("base", "success:deposit");
    const tx_hash = "0xac960fab4e2bd8c4571c1069e47e3186a23e173efd71608c2e800035fbf1d6c0";
    expect(await (await start())({ chain: "base", tx_hash })).to.include({ status: 1, value_eth: "0.01" });
  });

  it("shows what a Solana transaction asked of programs, and what they asked of others", async () => {
    record("solana", "success");
    const answer = await (await start())({ chain: "solana", tx_hash: TX_HASHES.solana });
    const { program_calls, ...fields } = answer;
    expect(fields).to.deep.equal({
      chain: "solana",
      tx_hash: TX_HASHES.solana,
      native_currency: "SOL",
      status: "success",
      ...NO_EVM,
      slot: 336671683,
      block_time: 1745927033,
      fee_lamports: 5222,
      signers: [OWNER],
    });
    expect(program_calls).to.deep.equal(HELP_CALLS);
  });

  for (const chain of ["base", "ethereum"] as const)
    it(`is found on ${chain} by its hash in capitals and without 0x, and echoed as the chain writes it`, async () => {
      record(chain, "success");
      const tx_hash = TX_HASHES[chain].slice(2).toUpperCase();
      expect(await (await start())({ chain, tx_hash })).to.include({ tx_hash: TX_HASHES[chain] });
    });

  const misnamed: Record<string, object> = {
    "base: an empty hash": { chain: "base", tx_hash: "" },
    "base: 63 digits": { chain: "base", tx_hash: TX_HASHES.base.slice(0, -1) },
    "base: 65 digits": { chain: "base", tx_hash: `${TX_HASHES.base}0` },
    "base: what is no hex": { chain: "base", tx_hash: `0x${"g".repeat(64)}` },
    "base: a space before": { chain: "base", tx_hash: ` ${TX_HASHES.base}` },
    "ethereum: a Solana signature": { chain: "ethereum", tx_hash: TX_HASHES.solana },
    "solana: an EVM hash": { chain: "solana", tx_hash: TX_HASHES.ethereum },
    "solana: 63 bytes": { chain: "solana", tx_hash: "1".repeat(63) },
    "solana: 65 bytes": { chain: "solana", tx_hash: "1".repeat(65) },
    "solana: letters that base58 does not have": { chain: "solana", tx_hash: `0OIl${TX_HASHES.solana.slice(4)}` },
    "129 characters": { chain: "solana", tx_hash: "1".repeat(129) },
    "another chain": { chain: "polygon", tx_hash: TX_HASHES.base },
    "no chain": { tx_hash: TX_HASHES.base },
  };
  for (const [name, input] of Object.entries(misnamed))
    it(`is not looked for under a wrong name (${name})`, async () => {
      expect((await problemOf((await start())(input))).code).to.equal("invalid-input");
    });

  it("names the field and the form that would be right when its name is wrong", async () => {
    const ask = await start();
    expect(await faultsOf(ask({ chain: "base", tx_hash: "0x12" }))).to.deep.equal([
      "body.tx_hash: Value error, tx_hash must be 64 hex digits, with or without 0x, on base",
    ]);
    expect(await faultsOf(ask({ chain: "solana", tx_hash: "0x12" }))).to.deep.equal([
      "body.tx_hash: Value error, tx_hash must be a signature of 64 bytes in base58 on solana",
    ]);
  });
});

describe("a transaction that cannot be decoded", () => {
  offline();

  for (const chain of CHAINS) {
    const name = { base: "Base", ethereum: "Ethereum", solana: "Solana" }[chain];

    it(`is not charged when ${chain} does not know it`, async () => {
      const asked = record(chain, "empty");
      const problem = await problemOf((await start())({ chain, tx_hash: UNKNOWN[chain] }));
      expect(problem.code).to.equal("nothing-found");
      expect(problem.message).to.match(
        new RegExp(`^The ${name} node knows no transaction ${UNKNOWN[chain]}: .* may be`),
      );
      asked.assertDone();
    });

    const failing = chain === "solana" ? ["malformed:accounts", "malformed:other"] : ["error:pruned"];
    for (const one of ["error", "error:down", "malformed", "malformed:shape", "slow", ...failing])
      it(`is not charged when the node of ${chain} fails (${one})`, async () => {
        record(chain, one);
        const ask = await start(one === "slow" ? { timeoutMs: 100 } : {});
        const problem = await problemOf(ask({ chain, tx_hash: TX_HASHES[chain] }));
        expect(problem.code).to.equal("upstream-failed");
        expect(problem.message).not.to.match(/test|header|pruned|history|gateway/i);
      });

    it(`is not charged when the node of ${chain} wants to be left alone, and its wish is passed on`, async () => {
      record(chain, "rate-limit");
      const problem = await problemOf((await start())({ chain, tx_hash: TX_HASHES[chain] }));
      expect(problem.code).to.equal("upstream-failed");
      expect(problem.options.retryAfter).to.equal(30);
    });
  }

  it("is not charged when it is of a version of Solana's that is too new", async () => {
    record("solana", "error:version");
    const problem = await problemOf((await start())({ chain: "solana", tx_hash: TX_HASHES.solana }));
    expect(problem.code).to.equal("unparseable-input");
  });

  it("is not charged when no node is configured", async () => {
    const ask = await serve("decode_tx", transaction, createHost());
    const problem = await problemOf(ask({ chain: "ethereum", tx_hash: TX_HASHES.ethereum }));
    expect(problem.code).to.equal("unavailable");
    expect(problem.message).to.contain("ETHEREUM_RPC_URL");
  });
});

describe("a chain that changes while it is read", () => {
  const hash = TX_HASHES.base;
  const [old, fresh] = [`0x${"aa".repeat(32)}`, `0x${"bb".repeat(32)}`];
  const address = `0x${"ab".repeat(20)}`;
  const pending = { hash, blockHash: null, from: address, to: address, value: "0x1", input: "0x" };
  const minedIn = (blockHash: string): object => ({ ...pending, blockHash });
  const receiptIn = (blockHash: string): object => ({ blockHash, gasUsed: "0x5208", status: "0x1" });
  const block = { number: "0x10", timestamp: "0x20" };

  /** Each method's answers, in order; the last one is repeated. */
  async function ask(transactions: unknown[], receipts: unknown[], blocks: Record<string, unknown>): Promise<Answered> {
    const next = (answers: unknown[]): unknown => (answers.length > 1 ? answers.shift() : answers[0]);
    let reads = 0;
    const rpc = async (method: string, [of]: readonly unknown[]): Promise<RpcAnswer> => {
      reads += 1;
      if (method === "eth_getTransactionByHash") return { result: next(transactions) };
      if (method === "eth_getTransactionReceipt") return { result: next(receipts) };
      return { result: blocks[of as string] ?? null };
    };
    const { upstream } = createHost();
    const host = createHost({ upstream: (id) => ({ ...upstream(id), rpc }) });
    const decode = await serve("decode_tx", transaction, host);
    return { answer: decode({ chain: "base", tx_hash: hash }), reads: () => reads };
  }
  interface Answered {
    readonly answer: ReturnType<Serve>;
    readonly reads: () => number;
  }

  it("is read again when a pending transaction was mined in between", async () => {
    const { answer } = await ask([pending, minedIn(fresh)], [receiptIn(fresh)], { [fresh]: block });
    expect(await answer).to.include({ status: 1, block_number: 16, timestamp: 32 });
  });

  it("is read again when the transaction moved to another block", async () => {
    const { answer } = await ask([minedIn(old), minedIn(fresh)], [receiptIn(fresh)], { [fresh]: block });
    expect(await answer).to.include({ status: 1, block_number: 16, gas_used: 21000 });
  });

  it("is read again when the block is gone, and the transaction waits once more", async () => {
    const { answer } = await ask([minedIn(old), pending], [receiptIn(old), null], {});
    expect(await answer).to.include({ status: "pending", block_number: null, timestamp: null, gas_used: null });
  });

  it("is not known any more when the transaction is gone altogether", async () => {
    const { answer } = await ask([minedIn(old), null], [receiptIn(old), null], {});
    expect((await problemOf(answer)).code).to.equal("nothing-found");
  });

  it("is not charged, and not asked for ever, when its node keeps contradicting itself", async () => {
    const contradictions: Record<string, Parameters<typeof ask>> = {
      "a block that is not there": [[minedIn(old)], [receiptIn(old)], {}],
      "a receipt without a transaction": [[null], [receiptIn(old)], { [old]: block }],
      "a mined transaction without a receipt": [[minedIn(old)], [null], { [old]: block }],
      "two blocks": [[minedIn(old)], [receiptIn(fresh)], { [old]: block, [fresh]: block }],
      "another transaction": [[{ ...minedIn(old), hash: old }], [receiptIn(old)], { [old]: block }],
    };
    for (const [name, story] of Object.entries(contradictions)) {
      const { answer, reads } = await ask(...story);
      const problem = await problemOf(answer);
      expect(problem.code, name).to.equal("upstream-failed");
      expect(problem.options.retryAfter, name).to.equal(2);
      expect(reads(), name).to.be.at.most(6);
    }
  });
});

const OWNER = "EMmTjuHsYCYX7vgPcQ2QVbNwYAwcvGoSMCEaHKc19DdE";
const WALLET = "BYh4CfuGDvFMKaZp3RPmkw9y6qg3sWukA2TiGJDeLKZi";
const [TO, FROM] = ["5k4KRS1HVR5DaQhPzY3P9mRBw1k3TK7fug23utRcqgk1", "BDAg5uPZ6ktjPZuKoktHLYbJLw6KqRTiHtJoeG9GDyLY"];
const MINT = "HeLp6NuQkmYB4pYWo2zYs22mESHXPQYzXbB8n4V98jwC";
const SYSTEM = { program_id: "11111111111111111111111111111111", program: "system" };
const TOKEN = { program_id: "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", program: "spl-token-2022" };
const BUDGET = { program_id: "ComputeBudget111111111111111111111111111111", program: "compute-budget" };
const ASSOCIATED = {
  program_id: "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
  program: "spl-associated-token-account",
};

const HELP_CALLS = [
  {
    ...BUDGET,
    accounts: [],
    data: "3GAG5eogvTjV",
    inner: [],
    parsed: { type: "setComputeUnitPrice", info: { microLamports: "10000" } },
  },
  {
    ...ASSOCIATED,
    accounts: [OWNER, TO, WALLET, MINT, SYSTEM.program_id, TOKEN.program_id],
    data: "2",
    parsed: {
      type: "createIdempotent",
      info: {
        source: OWNER,
        account: TO,
        wallet: WALLET,
        mint: MINT,
        systemProgram: SYSTEM.program_id,
        tokenProgram: TOKEN.program_id,
      },
    },
    inner: [
      {
        ...TOKEN,
        accounts: [MINT],
        data: "84eT",
        stack_height: 2,
        parsed: { type: "getAccountDataSize", info: { mint: MINT } },
      },
      {
        ...SYSTEM,
        accounts: [OWNER, TO],
        stack_height: 2,
        data: "11119ExAoTptm6xKUTUcw2V69MKmyEdDmRins3j3bK43o9nHeiYUtSiaT9pc292PhNQvxj",
        parsed: {
          type: "createAccount",
          info: { source: OWNER, newAccount: TO, lamports: "2074080", space: "170", owner: TOKEN.program_id },
        },
      },
      {
        ...TOKEN,
        accounts: [TO],
        data: "P",
        stack_height: 2,
        parsed: { type: "initializeImmutableOwner", info: { account: TO } },
      },
      {
        ...TOKEN,
        accounts: [TO, MINT],
        data: "6XgPj8sS4WmXBb4fL8ab7EubMbjFsHGBSrwdZksuTdTzg",
        stack_height: 2,
        parsed: { type: "initializeAccount3", info: { account: TO, mint: MINT, owner: WALLET } },
      },
    ],
  },
  {
    ...TOKEN,
    accounts: [FROM, TO, OWNER],
    data: "3ay2hEw4e3yH",
    inner: [],
    parsed: { type: "transfer", info: { source: FROM, destination: TO, authority: OWNER, amount: "10000000" } },
  },
  {
    ...BUDGET,
    accounts: [],
    data: "JPdU3Z",
    inner: [],
    parsed: { type: "setComputeUnitLimit", info: { units: 22184 } },
  },
];
