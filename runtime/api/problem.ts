/**
 * Every failure that a client can meet, once. HTTP answers read `status`, the README prints `title`.
 * A test holds this table and the README's equal, both ways.
 */
export const PROBLEMS = {
  "bad-request": { status: 400, title: "The request could not be understood" },
  "unparseable-input": {
    status: 400,
    title: "The input fits the schema but means nothing that the service can work with",
  },
  "signature-invalid": { status: 400, title: "The signature does not verify" },
  "payment-required": { status: 402, title: "Payment is required" },
  "not-found": { status: 404, title: "There is nothing at this address" },
  "method-not-allowed": { status: 405, title: "The address exists, but not for this method" },
  "request-timeout": { status: 408, title: "The request did not arrive in time" },
  "payment-in-progress": { status: 409, title: "A call with this payment is still running" },
  "payment-conflict": { status: 409, title: "This payment was already used for another call" },
  "payload-too-large": { status: 413, title: "The body is too large" },
  "uri-too-long": { status: 414, title: "The URL is too long" },
  "unsupported-media-type": { status: 415, title: "The body must be application/json" },
  "invalid-input": { status: 422, title: "The input does not match the schema" },
  "rate-limited": { status: 429, title: "Too many requests" },
  "headers-too-large": { status: 431, title: "The URL and the headers together are too large" },
  internal: { status: 500, title: "Something went wrong on our side" },
  "upstream-failed": { status: 502, title: "A source that the service needs failed" },
  "facilitator-unavailable": { status: 503, title: "The payment facilitator cannot be reached" },
  "settlement-unknown": { status: 503, title: "The payment was sent, and its outcome is not known yet" },
  unavailable: { status: 503, title: "The service is not available now" },
  "deadline-exceeded": { status: 504, title: "The call took too long" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One fault of an input, in the vocabulary of pydantic v2 (specification 2.17, ValidationError). */
export interface ValidationIssue {
  /** Where: `body`, `query` or `path` first, then field names and array indexes. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
  readonly input?: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** A fault that no schema can express, in pydantic's words for a failed rule; without `field` it is the whole body's. */
export function toValueError(error: string, input?: unknown, field?: string): ValidationIssue {
  const loc = field === undefined ? ["body"] : ["body", field];
  return { loc, msg: `Value error, ${error}`, type: "value_error", input, ctx: { error } };
}

export interface ProblemOptions {
  /** For the log only; never shown to a client. */
  readonly cause?: unknown;
  /** Whole seconds, sent as `Retry-After`. */
  readonly retryAfter?: number;
  /** Only for `invalid-input`: every fault at once. */
  readonly issues?: readonly ValidationIssue[];
  /** More members of the problem document (RFC 9457, section 3.2). */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** The only error class. `message` is a sentence that the client is shown. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly options: ProblemOptions;

  constructor(code: ProblemCode, detail?: string, options: ProblemOptions = {}) {
    super(detail ?? PROBLEMS[code].title, { cause: options.cause });
    this.code = code;
    this.options = options;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  /** Whatever was thrown, as a Problem: what is not one already is `internal`, and its details stay in the log. */
  static from(error: unknown): Problem {
    return error instanceof Problem ? error : new Problem("internal", undefined, { cause: error });
  }

  /** HTTPValidationError (specification 2.17) for `invalid-input`, otherwise a problem document (RFC 9457). */
  toJSON(): Record<string, unknown> {
    if (this.code === "invalid-input" && this.options.issues) return { detail: this.options.issues };
    return {
      type: `urn:payphone:problem:${this.code}`,
      title: PROBLEMS[this.code].title,
      status: this.status,
      detail: this.message,
      code: this.code,
      ...this.options.members,
    };
  }
}
