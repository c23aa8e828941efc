import { type Clock, type Plugins, Problem } from "#plugin";
import { isNobodys } from "../address.ts";
import { type AddressQuestion, type NamedQuestion, readName, SUPPORTED_TLDS } from "./name.ts";
import type { NameRegistry, Resolution } from "./registry.ts";

/** The answer of /v1/resolve/name (schemas/NameResolveResponse.json). */
type NameResolution = Plugins["wallet"]["resolve"]["output"];

export interface ResolveNameOptions {
  readonly registries: Readonly<Record<"ENS" | "SNS", NameRegistry>>;
  readonly clock: Clock;
}

/**
 * Resolves a name, or finds the primary name of an address. When a name has no address, or another suffix, the notes
 * say why. @throws Problem `nothing-found` for an address without a name; the errors of the registry.
 */
export function createResolveName({
  registries,
  clock,
}: ResolveNameOptions): (given: string, signal: AbortSignal) => Promise<NameResolution> {
  const resolve = ({ registry, name }: NamedQuestion, signal: AbortSignal): Promise<Resolution> | Resolution =>
    registry ? registries[registry].resolve(name, signal) : OTHER_SUFFIX;

  async function findName({ registry, address }: AddressQuestion, signal: AbortSignal): Promise<NamedQuestion> {
    const name = await registries[registry].primaryName(address, signal);
    if (name !== null) return { kind: "name", registry, name };
    const written = await toWritten({ registry, address });
    throw new Problem("nothing-found", `${written} has no primary name in ${registry} that leads back to it`);
  }

  return async (given, signal) => {
    const asked = readName(given);
    const question = asked.kind === "name" ? asked : await findName(asked, signal);
    const { addresses, notes: found } = await resolve(question, signal);
    const lost = addresses.filter(({ address }) => isNobodys(address.toLowerCase()));
    const notes = [
      ...(asked.kind === "name" ? [] : [`The primary name of ${await toWritten(asked)}.`]),
      ...found,
      ...lost.map(({ address }) => `Nobody has the key of ${address}: what is sent there is lost.`),
    ];
    return {
      name: question.name,
      addresses: [...addresses],
      resolved_at: Math.floor(clock.now() / 1000),
      registry_used: question.registry,
      supported_tlds: [...SUPPORTED_TLDS],
      notes: notes.length > 0 ? notes.join(" ") : null,
    };
  };
}

/** The address as people write it: EIP-55, or base58. */
async function toWritten({ registry, address }: Pick<AddressQuestion, "registry" | "address">): Promise<string> {
  return registry === "ENS" ? (await import("viem/utils")).getAddress(address) : address;
}

const OTHER_SUFFIX = { addresses: [], notes: [`Only names that end in ${SUPPORTED_TLDS.join(" or ")} are resolved.`] };
