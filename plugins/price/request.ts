import { base58 } from "@scure/base";
import { Problem, toValueError, type ValidationIssue } from "#plugin";

/** A token as callers name it: by its symbol, or by its contract on a chain. */
export interface TokenRequest {
  readonly symbol?: string | null | undefined;
  readonly chain?: Chain | null | undefined;
  readonly contract?: string | null | undefined;
}

/** CoinGecko's names of the chains (its "asset platforms"). */
const PLATFORMS = {
  base: "base",
  ethereum: "ethereum",
  solana: "solana",
  polygon: "polygon-pos",
  arbitrum: "arbitrum-one",
  optimism: "optimistic-ethereum",
  bsc: "binance-smart-chain",
  avalanche: "avalanche",
} as const;

/** The chains that contracts may be on. */
export type Chain = keyof typeof PLATFORMS;

/** A token in one spelling, so that whoever asks for the same one shares its price. */
export type Token = SymbolToken | ContractToken;

/** By its symbol, in lower case. */
export interface SymbolToken {
  readonly kind: "symbol";
  readonly symbol: string;
}

/** By its contract on one of CoinGecko's platforms. */
export interface ContractToken {
  readonly kind: "contract";
  readonly platform: string;
  readonly address: string;
}

/** The rules between the fields (specification 4.2). @throws Problem `invalid-input` with all faults. */
export function checkRequest(request: TokenRequest): void {
  const { symbol = null, chain = null, contract = null } = request;
  const issues: ValidationIssue[] = [];
  if (symbol === null && chain === null && contract === null)
    issues.push(toValueError("give a symbol, or a chain and a contract", request));
  if (symbol !== null && contract !== null)
    issues.push(toValueError("give a symbol, or a chain and a contract, but not both", symbol, "symbol"));
  if (contract !== null && chain === null)
    issues.push(toValueError("chain is required with a contract: the chain that it is on", chain, "chain"));
  if (chain !== null && contract === null)
    issues.push(toValueError("contract is required with a chain; a symbol stands without one", contract, "contract"));
  if (chain !== null && contract !== null && !isAddress(chain, contract))
    issues.push(
      toValueError(`contract must be ${ADDRESS[chain === "solana" ? "solana" : "evm"]}`, contract, "contract"),
    );
  if (issues.length > 0) throw new Problem("invalid-input", undefined, { issues });
}

const ADDRESS = {
  evm: "an address of an EVM chain: 0x and 40 hexadecimal digits",
  solana: "an address of Solana: 32 bytes in base58",
} as const;

function isAddress(chain: Chain, contract: string): boolean {
  if (chain !== "solana") return /^0x[0-9a-f]{40}$/i.test(contract);
  try {
    return base58.decode(contract).length === 32;
  } catch {
    return false;
  }
}

/** @param request that has passed its check. */
export function toToken({ symbol, chain, contract }: TokenRequest): Token {
  if (!chain || !contract) return { kind: "symbol", symbol: (symbol ?? "").trim().toLowerCase() };
  // Base58 has capitals that mean something; hexadecimal digits have not.
  return {
    kind: "contract",
    platform: PLATFORMS[chain],
    address: chain === "solana" ? contract : contract.toLowerCase(),
  };
}
