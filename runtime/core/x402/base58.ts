const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Base58 as Bitcoin and Solana write it: digits of a number, and a 1 for each leading zero byte. */
export function toBase58(bytes: Uint8Array): string {
  const first = bytes.findIndex((byte) => byte !== 0);
  const zeros = first < 0 ? bytes.length : first;
  let digits = "";
  for (let rest = BigInt(`0x0${Buffer.from(bytes).toString("hex")}`); rest > 0n; rest /= 58n)
    digits = (ALPHABET[Number(rest % 58n)] as string) + digits;
  return "1".repeat(zeros) + digits;
}
