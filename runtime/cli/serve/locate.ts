import { Problem } from "../../api/problem.ts";
import { keysOf, type UpstreamManifest } from "../../core/set/manifest.ts";
import { createReader, type Env } from "../config/reader.ts";
import { formatOf, hiddenIn } from "../config/secrets.ts";
import { WEB_URL } from "../config/values.ts";

/** The URL of an upstream, and the credentials to send. */
export interface Located {
  /** Undefined when nothing is configured. */
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Credentials that are sent in the query. */
  readonly query?: Readonly<Record<string, string>>;
  /** The credentials within the operator's own URL. */
  readonly hidden?: readonly string[];
  /** Whether it is a recording or a sandbox's chain, which has no rate limits. */
  readonly isOwn?: boolean;
}

/**
 * Finds the URL of an upstream. The environment overrides the site's file.
 * @throws Problem `bad-request` for a malformed value: another address might be asked than the operator wants.
 */
export function locate(upstream: UpstreamManifest, env: Env): Located {
  const { url, variable } = upstream;
  const { value, faults } = createReader(env, () => "");
  const headers: Record<string, string> = {};
  const query: Record<string, string> = {};
  for (const key of keysOf(upstream)) {
    const secret = value(key.variable, formatOf(key));
    if (key.header && secret) headers[key.header] = key.scheme ? `${key.scheme} ${secret}` : secret;
    if (key.query && secret) query[key.query] = secret;
  }
  const own = variable && value(variable, WEB_URL);
  if (faults.length > 0) throw new Problem("bad-request", faults.join("\n"));
  const hidden = own ? hiddenIn(own) : [];
  return {
    url: own || url,
    headers,
    ...(Object.keys(query).length > 0 && { query }),
    ...(hidden.length > 0 && { hidden }),
  };
}
