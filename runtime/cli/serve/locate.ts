import type { UpstreamManifest } from "../../core/set/manifest.ts";
import { createReader, type Env } from "../config/reader.ts";
import { TOKEN, WEB_URL } from "../config/values.ts";

/** The URL of an upstream, and the credential to send. */
export interface Located {
  /** Undefined when nothing is configured. */
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** A credential in the query. */
  readonly query?: Readonly<Record<string, string>>;
  /** Whether it is a recording or a chain of a sandbox, which has no limits. */
  readonly isOwn?: boolean;
}

/** Finds an upstream: the environment comes before the site. Malformed values count as unset. */
export function locate({ url, variable, key }: UpstreamManifest, env: Env): Located {
  const { value } = createReader(env, () => "");
  const secret = key && value(key.variable, TOKEN);
  return {
    url: (variable && value(variable, WEB_URL)) ?? url,
    headers: key?.header && secret ? { [key.header]: key.scheme ? `${key.scheme} ${secret}` : secret } : {},
    ...(key?.query && secret && { query: { [key.query]: secret } }),
  };
}
