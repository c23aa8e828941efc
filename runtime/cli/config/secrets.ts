import { readFileSync } from "node:fs";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { isSecretName, keysOf } from "../../core/upstream/keys.ts";
import { toKeyText } from "../../drivers/peers/identity-keys.ts";
import type { Config } from "./config.ts";
import { createReader } from "./reader.ts";
import { HEADERS } from "./values.ts";
import { webhookVariables } from "./webhooks.ts";

/** Every secret in the configuration: texts that must not appear in the log. */
export function secretsOf(
  { admin, treasury, redisUrl, facilitator, buyer, identityKeys, llm, collector, env }: Config,
  { rails, upstreams = [], facilitators = [], webhooks = [] }: SiteManifest,
): string[] {
  const keys = [treasury.evmKey, treasury.solanaKey, buyer.evmKey, buyer.solanaKey, facilitator.cdp?.keySecret];
  const identity = env.A2A_IDENTITY_KEY?.split(",").map((part) => part.trim()) ?? [];
  const variables = [
    ...rails.map(({ rpc }) => rpc),
    ...upstreams.flatMap((one) => [
      one.variable,
      ...keysOf(one).map((key) => key.variable),
      ...(one.env ?? []).filter(isSecretName),
    ]),
  ];
  const settlers = facilitators.flatMap(({ variable, headers }) => [variable && env[variable], ...toValues(headers)]);
  // Providers' URLs may hold their keys.
  const sources = [...variables, "LLM_BASE_URL"].map((name) => name && env[name]);
  return [
    ...keys,
    ...identity,
    ...(identityKeys ?? []).map(toKeyText),
    ...sources,
    redisUrl,
    admin.token,
    env.OTEL_EXPORTER_OTLP_HEADERS,
    ...Object.values(collector?.headers ?? {}),
    ...webhooks.flatMap(({ secret, variable }) => [env[secret], variable && env[variable]]),
    ...webhooks.flatMap((webhook) => webhookVariables({ env }, webhook).target?.secrets),
    llm?.apiKey,
    ...settlers,
    ...Object.values(facilitator.headers),
  ].filter((secret) => secret !== undefined);

  /** The values of the headers in a variable. */
  function toValues(variable: string | undefined): string[] {
    if (variable === undefined) return [];
    const headers = createReader(env, (path) => readFileSync(path, "utf8")).secret(variable, HEADERS);
    return Object.values(headers ?? {});
  }
}
