/** A proxied service: an HTTP API (`upstream`, `request`) or a tool of an MCP server (`mcp`, `tool`). */
export interface ProxyManifest {
  /** The id of the upstream; omitted when the request is a URL from the input. */
  readonly upstream?: string;
  /** `METHOD /path` with placeholders, or `METHOD {field}`. */
  readonly request?: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** `input`, or a JSON template. */
  readonly body?: NonNullable<unknown>;
  readonly encoding?: "json" | "form" | "multipart" | "text" | "bytes";
  /** With `encoding: multipart`, the fields of the form that are files. */
  readonly files?: readonly string[];
  /** The statuses that are charged; every 2xx by default. */
  readonly charge_on?: readonly number[];
  readonly answer?: {
    /** A JSON Pointer. */
    readonly pick?: string;
    /** The upstream's names, mapped to the output's names. */
    readonly rename?: Readonly<Record<string, string>>;
    /** The output field that gets the whole answer. */
    readonly wrap?: string;
    readonly max_bytes?: number;
    /** A condition that marks an answer as a failure although its status is good. */
    readonly failed?: string;
    /** A JSON Pointer to the reason of the failure. */
    readonly error?: string;
  };
  readonly cache?: { readonly seconds: number; readonly by?: readonly string[] };
  readonly poll?: PollManifest;
  /** The id of an MCP server. */
  readonly mcp?: string;
  readonly tool?: string;
}

/** How an upstream is polled until an order is done. */
export interface PollManifest {
  readonly request: string;
  /** The condition under which the order is done. */
  readonly done: string;
  readonly failed?: string;
  /** A JSON Pointer to the reason of a failure. */
  readonly error?: string;
  /** The request for the result, when the last polled answer does not contain it. */
  readonly result?: string;
  /** The pause between polls; 2 by default. */
  readonly seconds?: number;
}

/** An answer that is a file. */
export interface MediaManifest {
  /** Its media type; `image/*` for any picture. */
  readonly type: string;
  readonly max_bytes: number;
}

/** The fields of an upstream that is an MCP server. */
export interface McpServerManifest {
  /** Streamable HTTP at `url`, or standard input and output of `command`; omitted: not an MCP server. */
  readonly mcp?: "http" | "stdio";
  /** The program and its arguments. */
  readonly command?: readonly string[];
  /** The environment variables of the program, besides `PATH`. */
  readonly env?: readonly string[];
  /** The most memory of the program and its child processes; 512 by default. */
  readonly memory_mb?: number;
  /** How many calls may run concurrently; 16 by default. */
  readonly calls?: number;
}
