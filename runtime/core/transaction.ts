/** The form of a transaction's hash on EVM, as nodes write it. */
export const EVM_HASH = /^0x[0-9a-f]{64}$/;
