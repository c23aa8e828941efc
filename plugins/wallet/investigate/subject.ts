import { readChainAddress } from "../address.ts";

/** The address under investigation. */
export interface Subject {
  readonly family: "evm" | "solana";
  /** In lower case for EVM addresses; base58 as it was sent for Solana. */
  readonly address: string;
}

const FAMILIES = { ethereum: "evm", solana: "solana" } as const;

/** The chain on which EVM addresses are investigated: Base. */
export const BASE_CHAIN_ID = "8453";

/** Reads the request's address. @throws Problem `invalid-input` unless it is an EVM address or a Solana public key. */
export function readSubject(given: string): Subject {
  const { chain, key } = readChainAddress(given, { field: "address", chainIds: [BASE_CHAIN_ID] });
  return { family: FAMILIES[chain], address: key };
}

/** The name of the chain on which a subject is investigated. */
export const chainOf = ({ family }: Subject): string => (family === "evm" ? "Base" : "Solana");
