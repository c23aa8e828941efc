/** An address in EIP-55 spelling. @param address in lower case. */
export type ToChecksum = (address: string) => string;

/** Caches each checksum: a few addresses appear in thousands of transfers. */
export async function createToChecksum(): Promise<ToChecksum> {
  const { getAddress } = await import("viem/utils");
  const known = new Map<string, string>();
  return (address) => {
    const written = known.get(address) ?? getAddress(address);
    known.set(address, written);
    return written;
  };
}
