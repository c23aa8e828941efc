import { readFileSync } from "node:fs";
import type { WebhookManifest } from "../../core/set/manifest.ts";
import { isPrivateUrl } from "../../core/set/site.ts";
import { isWebhookSecret, type WebhookTarget } from "../../drivers/webhooks/post.ts";
import type { Config } from "./config.ts";
import { createReader } from "./reader.ts";
import type { ValueFormat } from "./values.ts";

/** Hidden, because receivers may have keys in their path or query. */
const URL_FORMAT: ValueFormat<string> = {
  hidden: true,
  right: "a web address that begins with https://, or with http:// on this machine",
  parse: (text) => (/^https?:.+$/.test(text) && URL.canParse(text) && isPrivateUrl(text) ? text : undefined),
};

const SECRETS_FORMAT: ValueFormat<readonly string[]> = {
  hidden: true,
  right: "whsec_ and the base64 of 24 to 64 bytes, or two such secrets with a space between them",
  parse: (text) => {
    const secrets = text.split(/\s+/);
    return secrets.length <= 2 && secrets.every(isWebhookSecret) ? secrets : undefined;
  },
};

/** The URL of a webhook's receiver, and its secrets. */
export interface WebhookVariables {
  /** Undefined while a variable is unset or malformed. */
  readonly target?: WebhookTarget;
  /** Sentences about malformed variables, without their values. */
  readonly faults: readonly string[];
}

export function webhookVariables({ env }: Pick<Config, "env">, webhook: WebhookManifest): WebhookVariables {
  const { faults, value, secret } = createReader(env, (path) => readFileSync(path, "utf8"));
  const url = (webhook.variable && value(webhook.variable, URL_FORMAT)) || webhook.url;
  const secrets = secret(webhook.secret, SECRETS_FORMAT);
  return { faults, ...(url !== undefined && secrets && { target: { url, secrets } }) };
}
