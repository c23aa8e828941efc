/**
 * Every failure that a client can get. HTTP uses `status`, JSON-RPC uses `rpc`, documents list `title`.
 * Where JSON-RPC 2.0 defines no code, `rpc` is the negated HTTP status with a two-digit number appended. Such codes lie
 * outside the range that JSON-RPC reserves (-32768 to -32000), and so outside those of MCP and A2A.
 * `payphone types` writes this table into runtime/docs/errors.md.
 */
export const PROBLEMS = {
  "bad-request": { status: 400, rpc: -32600, title: "The request could not be understood" },
  "unparseable-input": {
    status: 400,
    rpc: -40001,
    title: "The input fits the schema but means nothing that the service can work with",
  },
  "signature-invalid": { status: 400, rpc: -40002, title: "The signature does not verify" },
  "payment-required": { status: 402, rpc: -40201, title: "Payment is required" },
  "buyer-refused": { status: 403, rpc: -40301, title: "The seller does not sell to this wallet" },
  "not-found": { status: 404, rpc: -40401, title: "There is nothing at this address" },
  "nothing-found": { status: 404, rpc: -40402, title: "The sources know nothing of what was asked about" },
  "method-not-allowed": { status: 405, rpc: -40501, title: "The address exists, but not for this method" },
  "request-timeout": { status: 408, rpc: -40801, title: "The request did not arrive in time" },
  "payment-in-progress": { status: 409, rpc: -40901, title: "A call with this payment is still running" },
  "payment-conflict": { status: 409, rpc: -40902, title: "This payment was already used for another call" },
  gone: { status: 410, rpc: -41001, title: "The service is not sold any more" },
  "payload-too-large": { status: 413, rpc: -41301, title: "The body is too large" },
  "uri-too-long": { status: 414, rpc: -41401, title: "The URL is too long" },
  "unsupported-media-type": { status: 415, rpc: -41501, title: "The body must be application/json" },
  "invalid-input": { status: 422, rpc: -32602, title: "The input does not match the schema" },
  "rate-limited": { status: 429, rpc: -42901, title: "Too many requests" },
  "headers-too-large": { status: 431, rpc: -43101, title: "The URL and the headers together are too large" },
  internal: { status: 500, rpc: -32603, title: "Something went wrong on our side" },
  "upstream-failed": { status: 502, rpc: -50201, title: "A source that the service needs failed" },
  "paid-not-delivered": {
    status: 502,
    rpc: -50202,
    title: "The payment was settled first, and the service failed: the same payment may be used again, or is paid back",
  },
  "facilitator-unavailable": { status: 503, rpc: -50301, title: "The payment facilitator cannot be reached" },
  "settlement-unknown": { status: 503, rpc: -50302, title: "The payment was sent, and its outcome is not known yet" },
  unavailable: { status: 503, rpc: -50303, title: "The service is not available now" },
  "deadline-exceeded": { status: 504, rpc: -50401, title: "The call took too long" },
} as const satisfies Record<string, { status: number; rpc: number; title: string }>;

/** The code of a failure. */
export type ProblemCode = keyof typeof PROBLEMS;

/** One fault of an input, in the vocabulary of pydantic v2. See runtime/docs/decisions/input-faults.md. */
export interface ValidationIssue {
  /** The place: `body`, `query` or `path`, then field names and array indexes. */
  readonly loc: readonly (string | number)[];
  /** A sentence for people. */
  readonly msg: string;
  /** The kind of fault: `missing`, `string_too_long`, `value_error`. */
  readonly type: string;
  /** The refused value. */
  readonly input?: unknown;
  /** The bound or value that was missed: `{ "max_length": 5 }`. */
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** A fault that no schema can express, as pydantic's `value_error`; without `field` it concerns the whole body. */
export function toValueError(error: string, input?: unknown, field?: string): ValidationIssue {
  const loc = field === undefined ? ["body"] : ["body", field];
  const shown = typeof input === "bigint" ? String(input) : input;
  return { loc, msg: `Value error, ${error}`, type: "value_error", input: shown, ctx: { error } };
}

/** What a problem carries besides its code and message. */
export interface ProblemOptions {
  /** For the log only, never shown to a client. */
  readonly cause?: unknown;
  /** Seconds, sent as `Retry-After`: rounded up, and left out when they are no number. */
  readonly retryAfter?: number;
  /** All faults of the input. Only for `invalid-input`. */
  readonly issues?: readonly ValidationIssue[];
  /** The receipt of the settlement, when money has moved (x402 SettleResponse): sent as PAYMENT-RESPONSE. */
  readonly receipt?: object;
  /** Extension members of the problem document (RFC 9457, section 3.2). They replace none of its standard members. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** RFC 9110, section 10.2.3, has whole seconds only. */
function withWholeSeconds({ retryAfter, ...others }: ProblemOptions): ProblemOptions {
  if (typeof retryAfter !== "number" || !Number.isFinite(retryAfter)) return others;
  return { ...others, retryAfter: Math.max(0, Math.ceil(retryAfter)) };
}

/** The only error class. Clients are shown `message`, a sentence. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly options: ProblemOptions;

  /** @throws RangeError for an unknown code; TypeError when the members are not JSON. No client could be answered then. */
  constructor(code: ProblemCode, detail?: string, options: ProblemOptions = {}) {
    if (!Object.hasOwn(PROBLEMS, code)) throw new RangeError(`There is no problem code ${JSON.stringify(code)}`);
    if (options.members) JSON.stringify(options.members);
    super(detail ?? PROBLEMS[code].title, { cause: options.cause });
    this.code = code;
    this.options = "retryAfter" in options ? withWholeSeconds(options) : options;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  /** Any thrown value as a Problem. Other values become `internal`, and their details appear only in the log. */
  static from(error: unknown): Problem {
    return error instanceof Problem ? error : new Problem("internal", undefined, { cause: error });
  }

  /** FastAPI's `HTTPValidationError` for `invalid-input`, otherwise a problem document (RFC 9457). */
  toJSON(): Record<string, unknown> {
    if (this.code === "invalid-input" && this.options.issues) return { detail: this.options.issues };
    const standard = {
      type: `urn:payphone:problem:${this.code}`,
      title: PROBLEMS[this.code].title,
      status: this.status,
      detail: this.message,
      code: this.code,
    };
    return { ...standard, ...this.options.members, ...standard };
  }

  /** A JSON-RPC 2.0 error object (section 5.1); its `data` is the body that HTTP clients get, with the request's id. */
  toRpcError(requestId: string): { readonly code: number; readonly message: string; readonly data: object } {
    return { code: PROBLEMS[this.code].rpc, message: this.message, data: { ...this.toJSON(), request_id: requestId } };
  }
}
