import { base58 } from "@scure/base";
import { expect } from "chai";
import transaction from "../../../plugins/transaction/index.ts";
import type { RpcAnswer } from "../../../runtime/api/plugin.ts";
import { offline } from "../../support/sources/replay.ts";
import { createHost, faultsOf, problemOf, serve } from "../host.ts";
import { NO_EVM, record, start, TX_HASHES } from "./recorded-chains.ts";

const NO_SOLANA = { slot: null, block_time: null, fee_lamports: null, signers: null, program_calls: null };

describe("a decoded transaction", () => {
  offline();

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

  it("can be of version 1 on Solana, whose memo is longer than a whole transaction of the others", async () => {
    const memo = "ö".repeat(1000);
    const program = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
    const transactionConfig = { computeUnitLimit: 300_000, heapSize: null, priorityFee: 222 };
    const message = {
      header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
      accountKeys: [OWNER, program],
      instructions: [{ programIdIndex: 1, accounts: [], data: base58.encode(Buffer.from(memo)), stackHeight: 1 }],
      transactionConfig,
    };
    const landed = {
      version: 1,
      slot: 447_120_001,
      blockTime: 1_789_430_400,
      transaction: { signatures: [TX_HASHES.solana], message },
      meta: { err: null, fee: 5222, innerInstructions: [] },
    };
    const error = { code: -32015, message: "Transaction version (1) is not supported by the requesting client" };
    const { upstream } = createHost();
    const rpc = async (_method: string, [, options]: readonly unknown[]): Promise<RpcAnswer> =>
      (options as Record<string, unknown>).maxSupportedTransactionVersion === 1 ? { result: landed } : { error };
    const decode = await serve("decode_tx", transaction, createHost({ upstream: (id) => ({ ...upstream(id), rpc }) }));
    const { program_calls, ...fields } = await decode({ chain: "solana", tx_hash: TX_HASHES.solana });
    expect(fields).to.include({ status: "success", slot: 447_120_001, fee_lamports: 5222 });
    expect(program_calls).to.have.nested.property("[0].parsed.info.memo", memo);
  });

  it("does not say that programs called no others where the chain has not recorded it", async () => {
    const message = {
      header: { numRequiredSignatures: 1 },
      accountKeys: [OWNER, "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"],
      instructions: [{ programIdIndex: 1, accounts: [0], data: "" }],
    };
    const { upstream } = createHost();
    const innerOf = async (meta: object | null): Promise<unknown> => {
      const result = { slot: 5, transaction: { signatures: [TX_HASHES.solana], message }, meta };
      const host = createHost({ upstream: (id) => ({ ...upstream(id), rpc: async () => ({ result }) }) });
      const answer = await (await serve("decode_tx", transaction, host))({
        chain: "solana",
        tx_hash: TX_HASHES.solana,
      });
      return (answer.program_calls as { inner: unknown }[])[0]?.inner;
    };
    const meta = { err: null, fee: 5000 };
    expect(await innerOf({ ...meta, innerInstructions: [] })).to.deep.equal([]);
    for (const unknown of [{ ...meta, innerInstructions: null }, meta, null])
      expect(await innerOf(unknown)).to.equal(null);
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

  it("is not asked for another form when its chain is none of the three: only the chain is a fault", async () => {
    const { decode } = await transaction.setup(createHost());
    const { check } = decode as { check(input: object): void };
    check({ chain: "Solana", tx_hash: TX_HASHES.solana });
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
