import { AddressLookupTableAccount } from "@solana/web3.js";
import type { WireTransaction } from "./transaction.ts";

/**
 * All accounts of a transaction in the order of instruction indexes: the message's own, then the writable and then the
 * read-only ones of its address lookup tables. A missing table gives none; such a transaction is refused before its
 * programs run.
 * @param dataOf gives an account's data.
 */
export function toAllAccounts(
  { message, accounts }: WireTransaction,
  dataOf: (address: string) => Uint8Array | undefined,
): readonly string[] {
  const tables = message.addressTableLookups.map(({ accountKey, ...indexes }) => {
    const data = dataOf(accountKey.toBase58());
    const addresses = data ? AddressLookupTableAccount.deserialize(data).addresses : [];
    return { ...indexes, addresses: addresses.map((address) => address.toBase58()) };
  });
  const pick = (kind: "writableIndexes" | "readonlyIndexes"): string[] =>
    tables.flatMap((table) => table[kind].flatMap((index) => table.addresses[index] ?? []));
  return [...accounts, ...pick("writableIndexes"), ...pick("readonlyIndexes")];
}

/** The accounts that came from lookup tables, as `getTransaction` shows them. */
export function toLoadedAddresses(
  { message, accounts }: WireTransaction,
  all: readonly string[],
): { readonly writable: readonly string[]; readonly readonly: readonly string[] } {
  const writable = message.addressTableLookups.reduce((sum, { writableIndexes }) => sum + writableIndexes.length, 0);
  const split = accounts.length + writable;
  return { writable: all.slice(accounts.length, split), readonly: all.slice(split) };
}
