import { expect } from "chai";
import { offline } from "../../../support/sources/replay.ts";
import type { Fault } from "../../../support/world/manners.ts";
import type { Payment } from "../../../support/world/payments.ts";
import { toSolanaKey, toTokenAccount, toTokenData } from "../../../support/world/solana-node.ts";
import { investigateIn } from "./world.ts";

const toAddress = (name: string): string => `0x${Buffer.from(name.padEnd(20, ".")).toString("hex")}`;
const toWord = (hex: string): string => `0x${hex.slice(2).padStart(64, "0")}`;
const [SUBJECT, SHOP, OTHER] = [toAddress("subject"), toAddress("shop"), toAddress("other")];
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const SPAM = toAddress("spam token");

const PAYMENTS: readonly Payment[] = [
  { from: OTHER, to: SUBJECT, asset: "ETH", amount: "0.5", daysAgo: 400 },
  { from: SUBJECT, to: SHOP, asset: "ETH", amount: "0.1", daysAgo: 200 },
];

/** An item of a list of token transfers. */
const toItem = (at: number, token: object, { to = SUBJECT } = {}) => ({
  transaction_hash: toWord(`0x${at}`),
  log_index: at,
  timestamp: `2026-10-0${at}T00:00:00.000000Z`,
  from: { hash: OTHER },
  to: { hash: to },
  token,
  total: { value: "5000000" },
});

describe("an investigation whose sources are not true to what they were asked for", () => {
  offline();

  async function investigate(page: object) {
    const list: Fault = ({ name }) => (name.endsWith("/token-transfers") ? JSON.stringify(page) : undefined);
    return (await investigateIn({ payments: PAYMENTS, manners: { blockscout: { fault: list } } }, SUBJECT)).data;
  }

  it("counts no other token as USDC, whichever name the token's address has", async () => {
    const { movements, coverage } = await investigate({
      items: [
        toItem(1, { address_hash: USDC }),
        toItem(2, { address: USDC.toLowerCase() }),
        toItem(3, { address_hash: SPAM }),
        toItem(4, { address: SPAM }),
      ],
      next_page_params: null,
    });
    expect(movements.volumes[1]).to.include({ asset: "USDC", received: "10", receivedCount: 2 });
    expect(coverage.map(({ covers }) => covers).join()).to.contain("all 2 USDC transfers");
  });

  it("counts no transfer between others", async () => {
    const { movements, graph } = await investigate({
      items: [toItem(1, { address_hash: USDC }), toItem(2, { address_hash: USDC }, { to: SHOP })],
      next_page_params: null,
    });
    expect(movements.volumes[1]).to.include({ asset: "USDC", received: "5", receivedCount: 1, sentCount: 0 });
    expect(graph.counterparties).to.equal(2);
  });

  it("counts no ETH that a trace shows and nobody moved, such as that of a delegatecall", async () => {
    const items = ["call", "delegatecall", "callcode", "staticcall"].map((type, at) => ({
      ...toItem(at + 1, {}),
      index: at + 1,
      success: true,
      type,
      value: `${10n ** 18n}`,
    }));
    const body = JSON.stringify({ items, next_page_params: null });
    const calls: Fault = ({ name }) => (name.endsWith("/internal-transactions") ? body : undefined);
    const { data } = await investigateIn({ payments: PAYMENTS, manners: { blockscout: { fault: calls } } }, SUBJECT);
    expect(data.movements.volumes).to.deep.equal([
      { asset: "ETH", received: "1.5", sent: "0.1", receivedCount: 2, sentCount: 1 },
    ]);
  });

  it("is not sure where an explorer gives one page again and again", async () => {
    const data = await investigate({ items: [toItem(1, { address_hash: USDC })], next_page_params: { index: 1 } });
    expect(data).to.include({ verdict: "inconclusive", provisional: true });
    expect(data.missing).to.deep.include({
      source: "Blockscout",
      message:
        "Of its USDC transfers only the newest 1 could be read: Blockscout answered token-transfers with the same page again",
      atStake: 99,
    });
  });

  for (const [what, daysAgo, amount] of [
    ["holds something", 200, "5"],
    ["received something today", 0.5, "5"],
  ] as const)
    it(`does not believe an explorer that answers 404 about an address that ${what}`, async () => {
      const payments = [{ from: OTHER, to: SUBJECT, asset: "USDC", amount, daysAgo }] as const;
      const { data } = await investigateIn({ payments, manners: { blockscout: { fault: () => 404 } } }, SUBJECT);
      expect(data).to.include({ verdict: "inconclusive", provisional: true });
      expect(data.missing.map(({ message }) => message)).to.include(
        "It lists nothing of the address, which holds something or was in use",
      );
    });

  it("is not sure about a Solana wallet that holds something, all of whose transactions the node has pruned", async () => {
    const [FUNDER, WALLET] = [toSolanaKey("funder"), toSolanaKey("wallet")];
    const payments = [{ from: FUNDER, to: WALLET, asset: "SOL", amount: "20", daysAgo: 400 }] as const;
    const { data } = await investigateIn({ payments, solanaDays: 20 }, WALLET);
    expect(data).to.include({ verdict: "inconclusive", provisional: true });
    expect(data.missing).to.have.deep.members([
      {
        source: "Solana node",
        message: "It lists nothing of the address, which holds something or was in use",
        atStake: 99,
      },
      { source: "age", message: "Its first transaction could not be found, so that it may be young", atStake: 15 },
    ]);
  });

  it("says of an address with a wrong checksum that it may hold a typing error, as a screening does", async () => {
    const said = async (address: string): Promise<string> => (await investigateIn({ payments: [] }, address)).report;
    expect(await said("0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045")).to.include("it may hold a typing error");
    for (const sound of ["0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045", "0xd8da6bf26964af9d7eed9e03e53415d37aa96045"])
      expect(await said(sound)).not.to.include("typing error");
  });

  it("is not sure about an empty Solana wallet that the node may have forgotten, and is where it has kept all", async () => {
    const [FUNDER, WALLET, BUYER] = ["funder", "wallet", "buyer"].map(toSolanaKey) as [string, string, string];
    const emptied = [
      { from: FUNDER, to: WALLET, asset: "SOL", amount: "20", daysAgo: 400 },
      { from: WALLET, to: BUYER, asset: "SOL", amount: "20", daysAgo: 399 },
    ] as const;
    const { data } = await investigateIn({ payments: emptied, solanaDays: 20 }, WALLET);
    expect(data).to.include({ verdict: "inconclusive", provisional: true });
    const message = "It lists nothing of the address, and has not kept all transactions";
    expect(data.missing).to.deep.equal([{ source: "Solana node", message, atStake: 99 }]);
    const unused = await investigateIn({ payments: [] }, WALLET);
    expect(unused.data).to.include({ verdict: "low", provisional: false });
    expect(unused.data.missing).to.deep.equal([]);
  });

  for (const [count, verdict] of [
    [16, "low"],
    [17, "inconclusive"],
  ] as const)
    it(`is ${verdict} about a Solana wallet with ${count} USDC accounts before its usual one, which is read`, async () => {
      const WALLET = toSolanaKey("wallet");
      const keys = Array.from({ length: count }, (_, at) => toSolanaKey(`empty ${at}`));
      const value = [...keys, toTokenAccount(WALLET)].map((pubkey) => ({
        pubkey,
        account: { data: [toTokenData(WALLET).toString("base64"), "base64"] },
      }));
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { value } });
      const accounts: Fault = ({ name, params }) =>
        name === "getTokenAccountsByOwner" && params[0] === WALLET ? body : undefined;
      const payments = [{ from: toSolanaKey("funder"), to: WALLET, asset: "USDC", amount: "20", daysAgo: 40 }] as const;
      const { data } = await investigateIn({ payments, manners: { solana: { fault: accounts } } }, WALLET);
      expect(data.verdict).to.equal(verdict);
      expect(data.movements.volumes).to.have.length(1);
      expect(data.missing.map(({ message }) => message)).to.deep.equal(
        verdict === "low" ? [] : ["1 of its 18 USDC accounts were not read"],
      );
    });

  it("is not sure where a payment is missing between an explorer's index and the newest day", async () => {
    const payments = [
      { from: OTHER, to: SUBJECT, asset: "USDC", amount: "70.5", daysAgo: 90 },
      { from: SUBJECT, to: SHOP, asset: "USDC", amount: "20", daysAgo: 60 },
      { from: OTHER, to: SUBJECT, asset: "USDC", amount: "1000", daysAgo: 3 },
    ] as const;
    const { data } = await investigateIn({ payments, explorer: { lagDays: 5 } }, SUBJECT);
    expect(data).to.include({ verdict: "inconclusive", provisional: true });
    expect(data.missing).to.deep.equal([
      {
        source: "Blockscout",
        message: "It holds 1050.5 USDC, and the transfers that were listed do not come to that",
        atStake: 99,
      },
    ]);
    const near = await investigateIn({ payments, explorer: { lagDays: 1 } }, SUBJECT);
    expect(near.data.missing).to.deep.equal([]);
    expect(near.data.coverage.filter(({ whole }) => !whole)).to.deep.equal([]);
  });

  for (const [when, daysAgo] of Object.entries({ "since half a day": 0.5, "since a minute": 1 / 1440 }))
    it(`is not sure where a payment is missing that has left the wallet again, which is empty ${when}`, async () => {
      const payments = [
        { from: OTHER, to: SUBJECT, asset: "USDC", amount: "20", daysAgo: 90 },
        { from: SUBJECT, to: SHOP, asset: "USDC", amount: "20", daysAgo: 60 },
        { from: OTHER, to: SUBJECT, asset: "USDC", amount: "1000", daysAgo: 3 },
        { from: SUBJECT, to: SHOP, asset: "USDC", amount: "1000", daysAgo },
      ] as const;
      const { data } = await investigateIn({ payments, explorer: { lagDays: 5 } }, SUBJECT);
      expect(data).to.include({ verdict: "inconclusive", provisional: true });
      expect(data.missing).to.deep.equal([
        {
          source: "Blockscout",
          message: "It holds 0 USDC, and the transfers that were listed do not come to that",
          atStake: 99,
        },
      ]);
    });

  it("says that the newest day is missing where the node is behind", async () => {
    const { data } = await investigateIn({ payments: PAYMENTS, base: { lagSeconds: 3600 } }, SUBJECT);
    expect(data.missing).to.deep.equal([
      { source: "Base node", message: "Base node is behind: its newest block is of 2027-01-15T06:59Z", atStake: 0 },
    ]);
    expect(data.coverage.map(({ source }) => source)).not.to.include("Base node");
  });

  for (const [what, changes] of Object.entries({
    "another token": { address: SPAM },
    "another event": { topics: [toWord("0x1"), toWord(OTHER), toWord(SUBJECT)] },
    "transfers between others": { topics: [TRANSFER, toWord(OTHER), toWord(SHOP)] },
  }))
    it(`believes no logs of a node that gives those of ${what}`, async () => {
      const log = {
        address: USDC,
        topics: [TRANSFER, toWord(OTHER), toWord(SUBJECT)],
        data: toWord("0x5"),
        blockNumber: "0x1",
        transactionHash: toWord("0x1"),
        logIndex: "0x1",
        ...changes,
      };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: [log] });
      const logs: Fault = ({ name }) => (name === "eth_getLogs" ? body : undefined);
      const { data } = await investigateIn({ payments: PAYMENTS, manners: { base: { fault: logs } } }, SUBJECT);
      expect(data.movements.volumes.map(({ asset }) => asset)).to.deep.equal(["ETH"]);
      expect(data.missing.map(({ message }) => message)).to.deep.equal([
        "Base node answered eth_getLogs with something else",
      ]);
    });
});
