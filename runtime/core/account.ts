/** The form of an EVM address, with or without its checksum's capitals. */
export const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** The form of a Solana address: base58 of 32 bytes. */
export const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** An address as accounts are compared: EVM addresses in lower case, since their capitals are only a checksum. */
export const toAccount = (address: string): string => (/^0x/i.test(address) ? address.toLowerCase() : address);
