/** Somebody else's service: an HTTP API (`upstream`, `request`) or a tool of an MCP server (`mcp`, `tool`). */
export interface ProxyManifest {
  /** The id of the upstream; left out where the request is an address from the input. */
  readonly upstream?: string;
  /** `METHOD /path` with placeholders, or `METHOD {field}`. */
  readonly request?: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** `input`, or a template of JSON. */
  readonly body?: NonNullable<unknown>;
  readonly encoding?: "json" | "form" | "multipart" | "text" | "bytes";
  /** The fields of a form that are files, with `encoding: multipart`. */
  readonly files?: readonly string[];
  /** The statuses that are charged; every 2xx unless said otherwise. */
  readonly charge_on?: readonly number[];
  readonly answer?: {
    /** A JSON Pointer. */
    readonly pick?: string;
    /** The output's names by the upstream's. */
    readonly rename?: Readonly<Record<string, string>>;
    /** The field that takes the whole answer. */
    readonly wrap?: string;
    readonly max_bytes?: number;
    /** A condition of a failure that comes with a good status. */
    readonly failed?: string;
    /** A JSON Pointer to its reason. */
    readonly error?: string;
  };
  readonly cache?: { readonly seconds: number; readonly by?: readonly string[] };
  readonly poll?: PollManifest;
  /** The id of an MCP server. */
  readonly mcp?: string;
  readonly tool?: string;
}

/** How an upstream is asked whether what was ordered is done. */
export interface PollManifest {
  readonly request: string;
  /** A condition of the answer. */
  readonly done: string;
  readonly failed?: string;
  /** A JSON Pointer to the reason of a failure. */
  readonly error?: string;
  /** The request for the result, where the answer that is done does not have it. */
  readonly result?: string;
  /** The pause between polls; 2 unless said otherwise. */
  readonly seconds?: number;
}

/** A file as an answer. */
export interface MediaManifest {
  /** Its media type; `image/*` for any picture. */
  readonly type: string;
  readonly max_bytes: number;
}

/** What an upstream that is an MCP server says beside its address. */
export interface McpServerManifest {
  /** Over Streamable HTTP at `url`, or over standard input and output of `command`; left out: no MCP server. */
  readonly mcp?: "http" | "stdio";
  /** The program and its arguments. */
  readonly command?: readonly string[];
  /** The variables that the program gets, besides `PATH`. */
  readonly env?: readonly string[];
  /** The most memory of the program and all that it starts; 512 unless said otherwise. */
  readonly memory_mb?: number;
  /** How many calls may be under way at once; 16 unless said otherwise. */
  readonly calls?: number;
}
