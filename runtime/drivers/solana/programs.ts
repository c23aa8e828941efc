export { TOKEN_PROGRAM } from "../../core/x402/solana-transaction.ts";

/** SPL Associated Token Account. */
export const ASSOCIATED_TOKEN_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";

/** SPL Memo, version 2: logs a text and that the accounts have signed it. */
export const MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
