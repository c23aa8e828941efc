import { Problem } from "#plugin";
import { type Parsed, parseInstruction } from "./programs.ts";
import type { Instruction, Landed, Meta } from "./solana-node.ts";

/** A top-level instruction with its inner instructions. */
export type ProgramCall = Call & {
  /** Why this instruction failed, and with it the whole transaction: the node's `InstructionError`. */
  readonly error?: unknown;
  /** In the order of execution, whatever their depth. */
  readonly inner: InnerCall[];
};

/** An instruction that a program called (cross-program invocation). */
export type InnerCall = Call & {
  /** 2: called by the top-level instruction; 3: called by an instruction of height 2, and so on; null in old blocks. */
  readonly stack_height: number | null;
};

type Call = Parsed & {
  readonly program_id: string;
  readonly accounts: string[];
  /** Base58. */
  readonly data: string;
};

/** The transaction's instructions, in order. @throws Problem `upstream-failed` when an account index is out of range. */
export function toProgramCalls({ transaction, meta }: Landed): ProgramCall[] {
  const { accountKeys, instructions } = transaction.message;
  const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {};
  const accounts = [...accountKeys, ...writable, ...readonly];
  const [failedAt, error] = toFailure(meta);
  return instructions.map((instruction, index) => ({
    ...toCall(instruction, accounts),
    ...(index === failedAt && { error }),
    inner: innerOf(meta, index).map((inner) => ({
      ...toCall(inner, accounts),
      stack_height: inner.stackHeight ?? null,
    })),
  }));
}

const innerOf = (meta: Meta | null, outer: number): Instruction[] =>
  (meta?.innerInstructions ?? []).flatMap(({ index, instructions }) => (index === outer ? instructions : []));

/** Index and reason of the failed instruction; empty when the transaction succeeded or failed for another reason. */
function toFailure(meta: Meta | null): readonly unknown[] {
  if (meta === null || meta.err === null || typeof meta.err === "string") return [];
  const { InstructionError: failure } = meta.err;
  return Array.isArray(failure) ? failure : [];
}

function toCall({ programIdIndex, accounts: indexes, data }: Instruction, all: readonly string[]): Call {
  const accountAt = (index: number): string => {
    const account = all[index];
    if (account !== undefined) return account;
    throw new Problem(
      "upstream-failed",
      "The transaction, as the node shows it, counts accounts that it does not list",
    );
  };
  const program_id = accountAt(programIdIndex);
  const accounts = indexes.map(accountAt);
  return { program_id, accounts, data, ...parseInstruction(program_id, accounts, data) };
}
