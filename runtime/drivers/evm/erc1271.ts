/** `isValidSignature` of a contract wallet (ERC-1271). */
export const ERC1271_ABI = [
  {
    type: "function",
    name: "isValidSignature",
    stateMutability: "view",
    inputs: [
      { name: "hash", type: "bytes32" },
      { name: "signature", type: "bytes" },
    ],
    outputs: [{ name: "magicValue", type: "bytes4" }],
  },
] as const;

/** The return value for an accepted signature. */
export const ERC1271_MAGIC_VALUE = "0x1626ba7e";
