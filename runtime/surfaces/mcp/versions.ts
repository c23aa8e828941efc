/** The stateless version: every request carries its version and its capabilities. */
export const MODERN = "2026-07-28";

/** The versions with an `initialize` handshake, newest first. */
export const HANDSHAKE = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;

export type McpVersion = typeof MODERN | (typeof HANDSHAKE)[number];

/** Every supported version, newest first. */
export const VERSIONS: readonly McpVersion[] = [MODERN, ...HANDSHAKE];

/** The version of clients that send none: the only version without a version header. */
export const UNNAMED: McpVersion = "2025-03-26";

/** The first version that has each feature. */
const SINCE = {
  /** `title`, `outputSchema`, `structuredContent`, and `_meta` of a tool. */
  structure: "2025-06-18",
  /** `icons`, `description` and `websiteUrl` of the server. */
  identity: "2025-11-25",
  /** `resultType`, and the server's identity in each result. */
  stateless: MODERN,
} as const satisfies Record<string, McpVersion>;

/** Whether a version has a feature. Versions are dates and compare as texts. */
export const knows = (version: McpVersion, feature: keyof typeof SINCE): boolean => version >= SINCE[feature];

/** Whether a text names the first stateless version or a later, unknown one. */
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

/** The fields of the identity that exist in a version. */
export function toServerInfo(identity: McpIdentity, version: McpVersion): object {
  const { name, title, version: release, ...about } = identity;
  return {
    name,
    ...(knows(version, "structure") && { title }),
    version: release,
    ...(knows(version, "identity") && about),
  };
}

/** Serializes results in the form of a version. */
export function createResultWriter(identity: McpIdentity, version: McpVersion): (result: object) => string {
  if (!knows(version, "stateless")) return (result) => JSON.stringify(result);
  const server = { "io.modelcontextprotocol/serverInfo": toServerInfo(identity, version) };
  return (result) => {
    const own = "_meta" in result ? result._meta : undefined;
    return JSON.stringify({ resultType: "complete", ...result, _meta: { ...(own as object | undefined), ...server } });
  };
}
