import { readChainAddress } from "../screen/address.ts";

/** Whom an investigation is about. */
export interface Subject {
  readonly family: "evm" | "solana";
  /** In lower case for EVM addresses; base58 as it was sent for Solana. */
  readonly address: string;
}

const FAMILIES = { ethereum: "evm", solana: "solana" } as const;

/** @throws Problem `invalid-input` for what is neither an EVM address nor a Solana public key (specification 4.2, InvestigateRequest). */
export function readSubject(given: string): Subject {
  const { chain, key } = readChainAddress(given, "address");
  return { family: FAMILIES[chain], address: key };
}
