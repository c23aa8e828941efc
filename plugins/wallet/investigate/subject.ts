import { readChainAddress } from "../screen/address.ts";

/** The address under investigation. */
export interface Subject {
  readonly family: "evm" | "solana";
  /** In lower case for EVM addresses; base58 as it was sent for Solana. */
  readonly address: string;
}

const FAMILIES = { ethereum: "evm", solana: "solana" } as const;

/** Reads the request's address. @throws Problem `invalid-input` unless it is an EVM address or a Solana public key. */
export function readSubject(given: string): Subject {
  const { chain, key } = readChainAddress(given, "address");
  return { family: FAMILIES[chain], address: key };
}
