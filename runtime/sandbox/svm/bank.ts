import type { LiteSVM, TransactionMetadata } from "litesvm";
import { Problem } from "../../api/problem.ts";
import { isIncluded, type TransactionError, toTransactionError } from "./errors.ts";
import { toAllAccounts } from "./lookups.ts";
import type { SvmSlots } from "./slots.ts";
import type { WireTransaction } from "./transaction.ts";

/** An account's state. */
export interface SvmAccount {
  readonly address: string;
  readonly lamports: bigint;
  readonly owner: string;
  readonly executable: boolean;
  readonly data: Buffer;
}

/** The result of executing or simulating a transaction. `meta` is set when its programs ran. */
export interface Execution {
  /** Base58 of all accounts; those from lookup tables come last. */
  readonly accounts: readonly string[];
  readonly err: TransactionError | null;
  readonly meta: TransactionMetadata | undefined;
}

/** A transaction on the chain. `before` and `after` are the states of its accounts, in the order of `accounts`. */
export interface LandedTransaction extends Execution {
  readonly wire: WireTransaction;
  readonly slot: number;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly before: readonly (SvmAccount | undefined)[];
  readonly after: readonly (SvmAccount | undefined)[];
}

/** The ledger: accounts, and transactions by signature, oldest first. */
export interface SvmBank {
  readonly transactions: ReadonlyMap<string, LandedTransaction>;
  account(address: string): SvmAccount | undefined;
  accountsOwnedBy(program: string): SvmAccount[];
  putAccount(account: Omit<SvmAccount, "executable">): void;
  rentFor(bytes: number): bigint;
  simulate(wire: WireTransaction, options: { sigVerify: boolean; anyBlockhash: boolean }): Execution;
  /** Executes a transaction. A transaction that is refused before its programs run leaves no trace and no error. */
  land(wire: WireTransaction): void;
}

/** Opens an empty ledger on litesvm. @throws Problem `unavailable` when litesvm is not installed. */
export async function openBank(slots: SvmSlots): Promise<SvmBank> {
  const { LiteSVM } = await import("litesvm").catch((cause: unknown) => {
    const how =
      "The sandbox needs the optional package litesvm, which is not installed: install without --omit=optional";
    throw new Problem("unavailable", how, { cause });
  });
  // Blockhashes and duplicates are checked here: litesvm knows only one blockhash, which never expires.
  const svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);
  const transactions = new Map<string, LandedTransaction>();
  const executed = new Set<string>();

  const account = (address: string): SvmAccount | undefined => {
    const found = svm.getAccount(address as Address);
    return found.exists && found.lamports > 0n ? toAccount(found) : undefined;
  };
  const accountsOf = (wire: WireTransaction): readonly string[] =>
    toAllAccounts(wire, (address) => account(address)?.data);
  const refusal = (wire: WireTransaction, anyBlockhash = false): TransactionError | undefined => {
    if (!anyBlockhash && !slots.isValid(wire.message.recentBlockhash)) return "BlockhashNotFound";
    return executed.has(wire.messageHash) ? "AlreadyProcessed" : undefined;
  };
  const setTime = (): void => {
    const clock = svm.getClock();
    clock.slot = BigInt(slots.current());
    clock.unixTimestamp = BigInt(slots.timeOf(slots.current()));
    svm.setClock(clock);
  };

  return {
    transactions,
    account,
    accountsOwnedBy: (program) => svm.getProgramAccounts(program as Address).map(toAccount),
    putAccount: ({ address, owner, lamports, data }) =>
      svm.setAccount({
        address: address as Address,
        programAddress: owner as Address,
        lamports: lamports as Parameters<LiteSVM["setAccount"]>[0]["lamports"],
        data,
        space: BigInt(data.length),
        executable: false,
      }),
    rentFor: (bytes) => svm.minimumBalanceForRentExemption(BigInt(bytes)),
    simulate: (wire, { sigVerify, anyBlockhash }) => {
      const accounts = accountsOf(wire);
      const err = refusal(wire, anyBlockhash);
      if (err) return { accounts, err, meta: undefined };
      setTime();
      const result = svm.withSigverify(sigVerify).simulateTransaction(toLitesvm(wire));
      return { accounts, err: "err" in result ? toTransactionError(result.err()) : null, meta: result.meta() };
    },
    land: (wire) => {
      if (refusal(wire)) return;
      setTime();
      const accounts = accountsOf(wire);
      const before = accounts.map(account);
      const result = svm.withSigverify(true).sendTransaction(toLitesvm(wire));
      const [err, meta] = "err" in result ? [toTransactionError(result.err()), result.meta()] : [null, result];
      if (err && !isIncluded(err)) return;
      const slot = slots.current();
      const after = accounts.map(account);
      const blockTime = slots.timeOf(slot);
      executed.add(wire.messageHash);
      transactions.set(wire.signatures[0], { wire, accounts, slot, blockTime, err, meta, before, after });
    },
  };
}

type Address = Parameters<LiteSVM["getAccount"]>[0];
type Transaction = Parameters<LiteSVM["sendTransaction"]>[0];

/** litesvm takes a transaction as its message bytes and its signatures by signer. */
function toLitesvm({ raw, messageBytes, accounts, signatures }: WireTransaction): Transaction {
  const at = (index: number): Uint8Array => raw.subarray(1 + 64 * index, 65 + 64 * index);
  return {
    messageBytes,
    signatures: Object.fromEntries(signatures.map((_, index) => [accounts[index], at(index)])),
  } as unknown as Transaction;
}

function toAccount(found: ReturnType<LiteSVM["getProgramAccounts"]>[number]): SvmAccount {
  const { address, lamports, programAddress, executable, data } = found;
  return { address, lamports, owner: programAddress, executable, data: Buffer.from(data) };
}
