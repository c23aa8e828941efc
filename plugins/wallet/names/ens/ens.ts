import { base58 } from "@scure/base";
import type { Hex, Host } from "#plugin";
import { DEFAULT_TTL_SECONDS, type NameAddress, type NameRegistry, type Resolution, unresolved } from "../registry.ts";
import { createAskEthereum } from "./client.ts";
import { normalizeEnsName } from "./normalize.ts";
import { readEthereumAddress, readPrimaryName, readSolanaKey } from "./records.ts";
import { readRegistration, readTtlSeconds } from "./registration.ts";

/**
 * The Ethereum Name Service: on-chain names, wildcards (ENSIP-10) and off-chain gateways (EIP-3668). A name whose
 * registration has ended gets no address, whatever its records say.
 */
export function createEns(host: Pick<Host, "clock" | "upstream" | "web">): NameRegistry {
  const ask = createAskEthereum(host);

  const resolve: NameRegistry["resolve"] = (name, signal) =>
    ask(signal, async (client) => {
      const failures: unknown[] = [];
      const [address, key, registration, ttl = DEFAULT_TTL_SECONDS] = await Promise.all([
        readEthereumAddress(client, name),
        readSolanaKey(client, name).catch((error: unknown) => void failures.push(error)),
        readRegistration(client, name, host.clock.now()),
        readTtlSeconds(client, name),
      ]);
      signal.throwIfAborted();
      const notes = registration.note === undefined ? [] : [registration.note];
      if (!registration.isHeld) return unresolved(...notes);
      const isPartial = failures.length > 0;
      if (!address && isPartial) throw failures[0]; // Nothing was found, so the caller must not be charged.
      if (isPartial) notes.push("Whether it has a Solana address could not be found out.");
      if (!address && !key) notes.push(`${name} gives no address.`);
      return { addresses: toAddresses(address, key ?? undefined, ttl), notes, isPartial } satisfies Resolution;
    });

  return {
    resolve,

    async primaryName(address, signal) {
      const name = await ask(signal, (client) => readPrimaryName(client, address as Hex));
      if (name === undefined || !isNormalized(name)) return null;
      const { addresses } = await resolve(name, signal);
      return addresses.some((found) => found.address.toLowerCase() === address.toLowerCase()) ? name : null;
    },
  };
}

function toAddresses(address: Hex | undefined, key: Hex | undefined, ttl_hint_seconds: number): NameAddress[] {
  const addresses: NameAddress[] = [];
  if (address) addresses.push({ chain: "ethereum", address, ttl_hint_seconds });
  if (key) {
    const bytes = Buffer.from(key.slice(2), "hex");
    addresses.push({ chain: "solana", address: base58.encode(bytes), ttl_hint_seconds });
  }
  return addresses;
}

/** A primary name that is not normalized can imitate another name (ENSIP-15). */
function isNormalized(name: string): boolean {
  try {
    return normalizeEnsName(name) === name;
  } catch {
    return false;
  }
}
