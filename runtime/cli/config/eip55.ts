import { keccak_256 } from "@noble/hashes/sha3";

/** Whether the capitals of an EVM address fit its checksum (EIP-55). An address in a single case has none, and fits. */
export function fitsChecksum(address: string): boolean {
  const digits = address.slice(2);
  const lower = digits.toLowerCase();
  if (digits === lower || digits === digits.toUpperCase()) return true;
  const hash = Buffer.from(keccak_256(lower)).toString("hex");
  return [...digits].every(
    (digit, i) => digit === (Number.parseInt(hash[i] ?? "0", 16) > 7 ? digit.toUpperCase() : digit.toLowerCase()),
  );
}
