/** The stateless era: every request brings its version and its capabilities along. */
export const MODERN = "2026-07-28";

/** The eras of the `initialize` handshake, newest first. */
export const HANDSHAKE = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;

export type McpVersion = typeof MODERN | (typeof HANDSHAKE)[number];

/** Everything that is served (specification 4.4), newest first. */
export const VERSIONS: readonly McpVersion[] = [MODERN, ...HANDSHAKE];

/** What a client that names no version speaks: the only one that had no header for it. */
export const UNNAMED: McpVersion = "2025-03-26";

/** The version from which on each thing may be sent. */
export const SINCE = {
  /** `title`, `outputSchema`, `structuredContent`, and `_meta` of a tool. */
  structure: "2025-06-18",
  /** `icons`, `description` and `websiteUrl` of the server. */
  identity: "2025-11-25",
  /** `resultType`, and the server's identity in each result. */
  stateless: MODERN,
} as const satisfies Record<string, McpVersion>;

/** Whether a version has something. Versions are dates, and so compare as texts. */
export const knows = (version: McpVersion, thing: keyof typeof SINCE): boolean => version >= SINCE[thing];

/** Whether a text names the stateless era: its first version or, unknown to us, a later one. */
export const isStateless = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && text >= MODERN;

export interface McpIcon {
  /** An https or data URL. */
  readonly src: string;
  readonly mimeType: string;
  readonly sizes: readonly string[];
}

/** Who the server is (`Implementation` in every version's schema). */
export interface McpIdentity {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly websiteUrl: string;
  readonly icons?: readonly McpIcon[] | undefined;
}

/** As much of the identity as a version knows. */
export function toServerInfo(identity: McpIdentity, version: McpVersion): object {
  const { name, title, version: release, ...about } = identity;
  return {
    name,
    ...(knows(version, "structure") && { title }),
    version: release,
    ...(knows(version, "identity") && about),
  };
}

/** Writes results down as a version has them. */
export function createResultWriter(identity: McpIdentity, version: McpVersion): (result: object) => string {
  if (!knows(version, "stateless")) return (result) => JSON.stringify(result);
  const server = { "io.modelcontextprotocol/serverInfo": toServerInfo(identity, version) };
  return (result) => {
    const own = "_meta" in result ? result._meta : undefined;
    return JSON.stringify({ resultType: "complete", ...result, _meta: { ...(own as object | undefined), ...server } });
  };
}
