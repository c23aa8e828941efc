/** The buyer no longer waits for the wallet. */
export class Stopped extends Error {}

/**
 * Has a wallet change to a chain, unless it is there.
 * @param {import("./payers.js").Provider} provider
 * @param {number} chainId
 */
export async function switchTo(provider, chainId) {
  const current = await provider.request({ method: "eth_chainId" });
  if (Number(current) === chainId) return;
  const params = [{ chainId: `0x${chainId.toString(16)}` }];
  await provider.request({ method: "wallet_switchEthereumChain", params });
}
