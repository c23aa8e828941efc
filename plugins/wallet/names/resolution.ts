import type { Clock } from "#plugin";
import { type ReadName, readName, SUPPORTED_TLDS } from "./name.ts";
import type { NameAddress, NameRegistry } from "./registry.ts";

/** The answer of /v1/resolve/name (schemas/NameResolveResponse.json). */
export interface NameResolution {
  /** As it was looked up. */
  readonly name: string;
  readonly addresses: NameAddress[];
  /** Unix seconds. */
  readonly resolved_at: number;
  readonly registry_used: ReadName["registry"];
  readonly supported_tlds: string[];
  readonly notes: string | null;
}

export interface ResolveNameOptions {
  readonly registries: Readonly<Record<"ENS" | "SNS", NameRegistry>>;
  readonly clock: Clock;
}

/** Resolves a name. Without an address the answer's notes say why; so for a name of another suffix. */
export function createResolveName({ registries, clock }: ResolveNameOptions) {
  return async (given: string, signal: AbortSignal): Promise<NameResolution> => {
    const { name, registry } = readName(given);
    const { addresses, notes } = registry ? await registries[registry].resolve(name, signal) : OTHER_SUFFIX;
    return {
      name,
      addresses: [...addresses],
      resolved_at: Math.floor(clock.now() / 1000),
      registry_used: registry,
      supported_tlds: [...SUPPORTED_TLDS],
      notes: notes.length > 0 ? notes.join(" ") : null,
    };
  };
}

const OTHER_SUFFIX = { addresses: [], notes: [`Only names that end in ${SUPPORTED_TLDS.join(" or ")} are resolved.`] };
