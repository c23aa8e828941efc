import { readFileSync } from "node:fs";
import { unescape as decode } from "node:querystring";
import { CREDENTIAL } from "../../core/proxy/credential.ts";
import { type KeyManifest, keysOf, type Manifest, type SiteManifest } from "../../core/set/manifest.ts";
import { toKeyText } from "../../drivers/peers/identity-keys.ts";
import type { Config } from "./config.ts";
import { LOGIN, TOKEN } from "./key-values.ts";
import { createReader } from "./reader.ts";
import { HEADERS, type ValueFormat, WEB_URL } from "./values.ts";
import { webhookVariables } from "./webhooks.ts";

/** The parts of a set that name secrets. */
export interface SecretSet {
  readonly site: SiteManifest;
  readonly manifests: readonly Pick<Manifest, "needs">[];
}

/** Every secret in the configuration: texts that must not appear in the log. */
export function secretsOf(
  { admin, treasury, redisUrl, facilitator, buyer, identityKeys, llm, collector, env }: Config,
  { site: { rails, upstreams = [], facilitators = [], webhooks = [] }, manifests }: SecretSet,
): string[] {
  const keys = [treasury.evmKey, treasury.solanaKey, buyer.evmKey, buyer.solanaKey, facilitator.cdp?.keySecret];
  const identity = env.A2A_IDENTITY_KEY?.split(",").map((part) => part.trim()) ?? [];
  const variables = [
    ...rails.map(({ rpc }) => rpc),
    ...upstreams.flatMap((one) => [one.variable, ...keysOf(one).map((key) => key.variable)]),
  ];
  const lent = [...upstreams.flatMap((one) => one.env ?? []), ...manifests.flatMap(({ needs = [] }) => needs)];
  const settlers = facilitators.flatMap(({ variable, headers }) => [variable && env[variable], ...toValues(headers)]);
  // Providers' URLs may hold their keys.
  const places = ["FACILITATOR_URL", "LLM_BASE_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"];
  const sources = [...variables, ...places].map((name) => name && env[name]);
  const texts = [
    ...keys,
    ...identity,
    ...(identityKeys ?? []).map(toKeyText),
    ...sources,
    ...lent.flatMap((name) => secretsIn(name, env[name])),
    redisUrl,
    admin.token,
    env.OTEL_EXPORTER_OTLP_HEADERS,
    ...Object.values(collector?.headers ?? {}),
    ...webhooks.flatMap(({ secret, variable }) => [env[secret], variable && env[variable]]),
    ...webhooks.flatMap((webhook) => webhookVariables({ env }, webhook).target?.secrets),
    llm?.apiKey,
    ...settlers,
    ...Object.values(facilitator.headers),
  ];
  return texts.flatMap((text) => (text === undefined ? [] : toForms(text.trim())));

  /** The values of the headers in a variable. */
  function toValues(variable: string | undefined): string[] {
    if (variable === undefined) return [];
    const headers = createReader(env, (path) => readFileSync(path, "utf8")).secret(variable, HEADERS);
    return Object.values(headers ?? {});
  }
}

/**
 * The secrets in a variable that a program or a plugin gets: all of it where its name says so, and else what is secret in a
 * URL (`postgres://me:password@host`) or in settings (`host=a;password=b`), alone and with all around it.
 */
export function secretsIn(name: string, value = ""): readonly string[] {
  const [, password = ""] = /^[a-z][\w+.-]*:\/\/[^:/@\s]*:([^@/\s]+)@/i.exec(value.trim()) ?? [];
  const settings = [...value.matchAll(/([\w.-]+)=([^;&\s]+)/g)].flatMap(([, key = "", set = ""]) =>
    isSecretName(key) || CREDENTIAL.test(key) ? [set] : [],
  );
  const parts = [password, decode(password), ...settings].filter((part) => part !== "");
  if (parts.length === 0) return isSecretName(name) ? [value] : [];
  // A password that occurs elsewhere in the value, for instance as the user's name, is hidden only with its surroundings.
  const telling = parts.filter((part) => value.split(part).length <= 2);
  return [value, `:${password}@`, ...telling];
}

/** What the variable of a key holds: without a `scheme`, the whole value of `authorization`. */
export const formatOf = ({ header, scheme }: KeyManifest): ValueFormat<string> =>
  header?.toLowerCase() === "authorization" && scheme === undefined ? LOGIN : TOKEN;

/** Whether a variable's name suggests that it holds a secret. */
const isSecretName = (name: string): boolean =>
  /key|token|secret|passw|credential|auth|cookie|bearer|jwt|_pwd$|(?:^|_)(?:pat|pass)(?:_|$)/i.test(name);

/** The forms in which a secret may be written: as given, without its scheme, or for a URL as it is requested, and its credentials. */
function toForms(text: string): readonly string[] {
  const asked = WEB_URL.parse(text);
  const [, bare = text] = /^[\w-]+ (\S+)$/.exec(text) ?? [];
  return asked === undefined ? [text, bare] : [text, asked, new URL(asked).password, ...hiddenIn(asked)];
}

/** Keys that providers put into URL paths: long, with letters and digits. */
const PATH_KEY = /^(?=.*\d)(?=.*[a-z])[\w:.~-]{20,}$/i;

/** The credentials in the path and the query of a URL. */
export function hiddenIn(url: string): readonly string[] {
  const { pathname, searchParams } = new URL(url);
  const inQuery = [...searchParams].filter(([name, value]) => CREDENTIAL.test(name) || PATH_KEY.test(value));
  return [...pathname.split("/").filter((part) => PATH_KEY.test(part)), ...inQuery.map(([, value]) => value)];
}
