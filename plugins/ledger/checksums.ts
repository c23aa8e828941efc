/** Writes an address as EIP-55 has it. @param address in lower case. */
export type ToChecksum = (address: string) => string;

/** Computes each address's checksum once: the same few stand in thousands of transfers. */
export async function createToChecksum(): Promise<ToChecksum> {
  const { getAddress } = await import("viem/utils");
  const known = new Map<string, string>();
  return (address) => {
    const written = known.get(address) ?? getAddress(address);
    known.set(address, written);
    return written;
  };
}
