import { Problem, toValueError } from "#plugin";
import { readAddress } from "../screen/address.ts";

/** Whom an investigation is about. */
export interface Subject {
  readonly family: "evm" | "solana";
  /** In lower case for EVM addresses; base58 as it was sent for Solana. */
  readonly address: string;
}

const FAMILIES = { ethereum: "evm", solana: "solana", unknown: undefined } as const;

/** @throws Problem `invalid-input` for what is neither an EVM address nor a Solana public key (specification 4.2, InvestigateRequest). */
export function readSubject(given: string): Subject {
  const { chain, key } = readAddress(given);
  const family = FAMILIES[chain];
  if (family) return { family, address: key };
  const error = "address must be an EVM address (0x and 40 hex digits) or a Solana public key in base58";
  throw new Problem("invalid-input", undefined, { issues: [toValueError(error, given, "address")] });
}
