/** An address as accounts are compared: EVM addresses in lower case, since their capitals are only a checksum. */
export const toAccount = (address: string): string => (/^0x/i.test(address) ? address.toLowerCase() : address);
