import { Problem } from "#plugin";
import type { ChainFields } from "./chain-fields.ts";
import { parseInstruction } from "./programs.ts";
import type { Instruction, Landed, Meta } from "./solana-node.ts";

/**
 * The transaction's instructions, each with those that it called, in the order of execution. @throws Problem
 * `upstream-failed` when an account index is out of range.
 */
export function toProgramCalls({ transaction, meta }: Landed): NonNullable<ChainFields["program_calls"]> {
  const { accountKeys, instructions } = transaction.message;
  const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {};
  const accounts = [...accountKeys, ...writable, ...readonly];
  const [failedAt, error] = toFailure(meta);
  return instructions.map((instruction, index) => ({
    ...toCall(instruction, accounts),
    ...(index === failedAt && { error }),
    inner:
      innerOf(meta, index)?.map((inner) => ({
        ...toCall(inner, accounts),
        stack_height: inner.stackHeight ?? null,
      })) ?? null,
  }));
}

/** Undefined where they were not recorded, as in the blocks of 2020. */
const innerOf = (meta: Meta | null, outer: number): Instruction[] | undefined =>
  meta?.innerInstructions?.flatMap(({ index, instructions }) => (index === outer ? instructions : []));

/** Index and reason of the failed instruction; empty when the transaction succeeded or failed for another reason. */
function toFailure(meta: Meta | null): readonly unknown[] {
  if (meta === null || meta.err === null || typeof meta.err === "string") return [];
  const { InstructionError: failure } = meta.err;
  return Array.isArray(failure) ? failure : [];
}

function toCall({ programIdIndex, accounts: indexes, data }: Instruction, all: readonly string[]) {
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
