import { createRead } from "./node.ts";

/** The answer of `getTransaction` with the encoding `json`, as far as it is used. */
export interface Landed {
  readonly slot: number;
  /** Unix seconds. */
  readonly blockTime?: number | null;
  readonly transaction: {
    readonly signatures: readonly string[];
    readonly message: {
      /** Base58; the signers come first. */
      readonly accountKeys: readonly string[];
      readonly header: { readonly numRequiredSignatures: number };
      readonly instructions: readonly Instruction[];
    };
  };
  /** Null when the node keeps no record of the execution. */
  readonly meta: Meta | null;
}

/** The result of a transaction's execution. */
export interface Meta {
  /** Null: succeeded. The most common failure is `{ InstructionError: [index, reason] }`. */
  readonly err: Readonly<Record<string, unknown>> | string | null;
  /** Lamports. */
  readonly fee: number;
  /** Inner instructions, by the index of their top-level instruction; null where they were not recorded. */
  readonly innerInstructions?:
    | readonly { readonly index: number; readonly instructions: readonly Instruction[] }[]
    | null;
  /** Accounts from address lookup tables. Their indexes follow those of `accountKeys`, the writable ones first. */
  readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] } | null;
}

/** An instruction: program and accounts by index, data in base58. */
export interface Instruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: string;
  /** 1 for top-level instructions, 2 for those that they call, and so on; absent in old blocks. */
  readonly stackHeight?: number | null;
}

const COUNT = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const COUNT_OR_NULL = { ...COUNT, type: ["integer", "null"] };
const ADDRESSES = listOf({ type: "string", pattern: "^[1-9A-HJ-NP-Za-km-z]{32,44}$" });
const INSTRUCTIONS = listOf({
  type: "object",
  properties: {
    programIdIndex: COUNT,
    accounts: listOf(COUNT),
    data: { type: "string", pattern: "^[1-9A-HJ-NP-Za-km-z]*$" },
    stackHeight: COUNT_OR_NULL,
  },
  required: ["programIdIndex", "accounts", "data"],
});

/** @throws Problem `upstream-failed`; `unparseable-input` for a transaction version above 1. */
export const getTransaction = createRead<Landed>(
  "getTransaction",
  {
    type: "object",
    properties: {
      slot: COUNT,
      blockTime: COUNT_OR_NULL,
      transaction: {
        type: "object",
        properties: {
          signatures: listOf({ type: "string" }),
          message: {
            type: "object",
            properties: {
              accountKeys: ADDRESSES,
              header: {
                type: "object",
                properties: { numRequiredSignatures: COUNT },
                required: ["numRequiredSignatures"],
              },
              instructions: INSTRUCTIONS,
            },
            required: ["accountKeys", "header", "instructions"],
          },
        },
        required: ["signatures", "message"],
      },
      meta: {
        type: ["object", "null"],
        properties: {
          err: { type: ["object", "string", "null"] },
          fee: COUNT,
          innerInstructions: {
            type: ["array", "null"],
            items: {
              type: "object",
              properties: { index: COUNT, instructions: INSTRUCTIONS },
              required: ["index", "instructions"],
            },
          },
          loadedAddresses: {
            type: ["object", "null"],
            properties: { writable: ADDRESSES, readonly: ADDRESSES },
            required: ["writable", "readonly"],
          },
        },
        required: ["err", "fee"],
      },
    },
    required: ["slot", "transaction", "meta"],
  },
  { [-32015]: "The transaction is of a version that cannot be decoded yet" },
);

function listOf(items: object): object {
  return { type: "array", items };
}
