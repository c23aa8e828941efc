import { base58 } from "@scure/base";
import { Problem, toValueError, type ValidationIssue } from "#plugin";

/** The request: a symbol, a symbol on a chain, or a contract on a chain. */
export interface TokenRequest {
  readonly symbol?: string | null | undefined;
  readonly chain?: TokenChain | null | undefined;
  readonly contract?: string | null | undefined;
}

/** CoinGecko's ids of the chains ("asset platforms"). */
export const PLATFORMS = {
  base: "base",
  ethereum: "ethereum",
  solana: "solana",
  polygon: "polygon-pos",
  arbitrum: "arbitrum-one",
  optimism: "optimistic-ethereum",
  bsc: "binance-smart-chain",
  avalanche: "avalanche",
} as const;

/** The chains on which contracts are looked up. */
export type TokenChain = keyof typeof PLATFORMS;

/** A token in canonical spelling: the key under which its price is cached. */
export type PricedToken = SymbolToken | ContractToken;

/** A token by its symbol, in lower case; on a chain if one is named. */
export interface SymbolToken {
  readonly kind: "symbol";
  readonly symbol: string;
  readonly chain?: TokenChain | undefined;
}

/** A token by its contract; EVM addresses in lower case. */
export interface ContractToken {
  readonly kind: "contract";
  readonly chain: TokenChain;
  readonly address: string;
}

/** Checks the rules that the JSON Schema cannot express. @throws Problem `invalid-input` with all faults. */
export function checkRequest(request: TokenRequest): void {
  const { symbol = null, chain = null, contract = null } = request;
  const issues: ValidationIssue[] = [];
  if (symbol === null && chain === null && contract === null)
    issues.push(toValueError("give a symbol, with or without a chain, or a chain and a contract", request));
  if (symbol !== null && contract !== null)
    issues.push(toValueError("give a symbol, or a chain and a contract, but not both", symbol, "symbol"));
  if (contract !== null && chain === null)
    issues.push(toValueError("chain is required with a contract: the chain that it is on", chain, "chain"));
  if (symbol === null && chain !== null && contract === null)
    issues.push(toValueError("a contract or a symbol is required with a chain", contract, "contract"));
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

function isAddress(chain: TokenChain, contract: string): boolean {
  if (chain !== "solana") return /^0x[0-9a-f]{40}$/i.test(contract);
  try {
    return base58.decode(contract).length === 32;
  } catch {
    return false;
  }
}

/** @param request has passed `checkRequest`. */
export function toPricedToken({ symbol, chain, contract }: TokenRequest): PricedToken {
  if (!chain || !contract)
    return { kind: "symbol", symbol: (symbol ?? "").trim().toLowerCase(), chain: chain ?? undefined };
  // Case matters in base58, not in hex.
  return {
    kind: "contract",
    chain,
    address: chain === "solana" ? contract : contract.toLowerCase(),
  };
}
