import { expect } from "chai";
import price from "../../../plugins/price/index.ts";
import { createHost, faultsOf, serve } from "../host.ts";

const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";

describe("a question for a price", () => {
  const refused: Record<string, [input: object, faults: string[]]> = {
    "no token at all": [{}, ["body: Value error, give a symbol, with or without a chain, or a chain and a contract"]],
    "nothing but null": [
      { symbol: null, chain: null, contract: null },
      ["body: Value error, give a symbol, with or without a chain, or a chain and a contract"],
    ],
    "a symbol and a contract": [
      { symbol: "USDC", chain: "base", contract: USDC },
      ["body.symbol: Value error, give a symbol, or a chain and a contract, but not both"],
    ],
    "a symbol and a contract without a chain, both faults at once": [
      { symbol: "USDC", contract: USDC },
      [
        "body.symbol: Value error, give a symbol, or a chain and a contract, but not both",
        "body.chain: Value error, chain is required with a contract: the chain that it is on",
      ],
    ],
    "a chain alone": [
      { chain: "solana" },
      ["body.contract: Value error, a contract or a symbol is required with a chain"],
    ],
    "a mint on an EVM chain": [
      { chain: "polygon", contract: MINT },
      ["body.contract: Value error, contract must be an address of an EVM chain: 0x and 40 hexadecimal digits"],
    ],
    "an EVM contract on Solana": [
      { chain: "solana", contract: USDC },
      ["body.contract: Value error, contract must be an address of Solana: 32 bytes in base58"],
    ],
    "a mint that is too short": [
      { chain: "solana", contract: MINT.slice(4) },
      ["body.contract: Value error, contract must be an address of Solana: 32 bytes in base58"],
    ],
    "an empty contract": [
      { chain: "base", contract: "" },
      ["body.contract: Value error, contract must be an address of an EVM chain: 0x and 40 hexadecimal digits"],
    ],
    "a chain that nobody knows": [
      { chain: "tron", contract: USDC },
      [
        "body.chain: Input should be 'base', 'ethereum', 'solana', 'polygon', 'arbitrum', 'optimism', 'bsc' or 'avalanche'",
      ],
    ],
    "an empty symbol": [{ symbol: "" }, ["body.symbol: String should have at least 1 character"]],
    "a blank symbol": [{ symbol: " " }, ["body.symbol: String should match pattern '^\\s*[^\\s,][^,]*$'"]],
    "two symbols": [{ symbol: "BTC,ETH" }, ["body.symbol: String should match pattern '^\\s*[^\\s,][^,]*$'"]],
  };
  for (const [name, [input, faults]] of Object.entries(refused))
    it(`does not take ${name}`, async () => {
      expect(await faultsOf((await serve("price_token", price, createHost()))(input))).to.deep.equal(faults);
    });
});
