import type { SiteManifest } from "../../core/set/manifest.ts";
import { toKeyText } from "../../drivers/peers/identity-keys.ts";
import type { Config } from "./config.ts";

/** Every secret in the configuration: texts that must not appear in the log. */
export function secretsOf(
  { admin, treasury, redisUrl, facilitator, buyer, identityKeys, llm, env }: Config,
  { rails, upstreams = [] }: SiteManifest,
): string[] {
  const keys = [treasury.evmKey, treasury.solanaKey, buyer.evmKey, buyer.solanaKey, facilitator.cdp?.keySecret];
  const identity = env.A2A_IDENTITY_KEY?.split(",").map((part) => part.trim()) ?? [];
  const variables = [...rails.map(({ rpc }) => rpc), ...upstreams.flatMap((one) => [one.variable, one.key?.variable])];
  const sources = [...variables, "LLM_BASE_URL"].map((name) => name && env[name]); // Providers' URLs may hold their keys.
  return [
    ...keys,
    ...identity,
    ...(identityKeys ?? []).map(toKeyText),
    ...sources,
    redisUrl,
    admin.token,
    llm?.apiKey,
    ...Object.values(facilitator.headers),
  ].filter((secret) => secret !== undefined);
}
