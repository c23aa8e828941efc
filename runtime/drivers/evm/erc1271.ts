/**
 * `isValidSignature` of a contract wallet (ERC-1271). Its `bytes4` is read with its padding, as USDC reads it: the
 * address 4 answers every call with the call itself, which begins with the same four bytes.
 */
export const ERC1271_ABI = [
  {
    type: "function",
    name: "isValidSignature",
    stateMutability: "view",
    inputs: [
      { name: "hash", type: "bytes32" },
      { name: "signature", type: "bytes" },
    ],
    outputs: [{ name: "magicValue", type: "bytes32" }],
  },
] as const;

/** The return value for an accepted signature. */
export const ERC1271_MAGIC_VALUE = `0x1626ba7e${"0".repeat(56)}`;
