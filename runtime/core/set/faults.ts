import { type Path, toPathText } from "../schema/nodes.ts";

/** Every kind of fault of a set. `manifests/README.md` contains this table; a test compares both. */
export const FAULT_CODES = {
  "alias-path-differs": "An alias has another path than the route; an alias is the same path with the other method.",
  "bad-account": "Not an EVM or Solana address, or one that was mistyped.",
  "bad-amount": "Not a plain decimal number above zero, written as text: `price`, and both sides of tiers.",
  "bad-asset": "An address is not of the kind that the rail's network uses.",
  "bad-cache":
    "A cache whose `by` lacks a field of the request, whose output has no `age_seconds`, or of calls that change something.",
  "bad-charge": "`charge` of a free service or a job, or a service that leaves traces and is not paid first.",
  "bad-condition": "Not a condition of an upstream's answer.",
  "bad-example": "An example does not fit the schema, or the handler's own rules refuse it.",
  "bad-explorer":
    "Not an http(s) URL with `{tx}` in it, once (or `{address}`, for the page of an address), or one with a password.",
  "bad-handler": "Not `plugin.handler`.",
  "bad-header": "Not the name of an HTTP header.",
  "bad-id": "Not made of letters, digits, `_`, `.` and `-`, at most 64, a letter or digit first.",
  "bad-media": "Not a media type that can be sold as a file.",
  "bad-network": "Not a CAIP-2 network of a kind that payphone settles on.",
  "bad-placeholder": "A placeholder whose field does not fit its place in the request.",
  "bad-pointer": "Not a JSON Pointer (RFC 6901).",
  "bad-proxy": "A part of `proxy` that contradicts another one, or has no use beside it.",
  "bad-refunds": "Refunds on a rail that cannot make them, or screened by a service that cannot tell.",
  "bad-request": "Not a request to an upstream: a method, and a path whose placeholders stay inside of segments.",
  "bad-route": "Not `GET /path` or `POST /path`.",
  "bad-rules":
    "A wallet in `deny` and in `allow`, a service under `screen` that cannot tell, or one that costs more than a wallet may spend.",
  "bad-schema": "Not a valid JSON Schema (2020-12).",
  "bad-schema-name": "A schema's name is not one capital letter followed by letters and digits.",
  "bad-sign-in": "`free` where calls are not paid last, or `sign_in` where they are paid.",
  "bad-text":
    "Characters that have no place there: titles are printable ASCII, descriptions Latin-1, and no text has half of a character.",
  "bad-upstream": "An upstream whose credential is sent in no place, or in two.",
  "bad-url": "Not an absolute http(s) URL, or one with a fragment, or with a password where it is published.",
  "bad-value": "Not one of the words that are allowed here.",
  "bad-variable": "Not the name of an environment variable, or one that plugins never get.",
  "bad-version": "Not three numbers with dots between them.",
  "bad-webhook": "A receiver of webhooks without an address of its own, or whose messages could be read on the way.",
  "bad-word": "Not made of lower-case letters, digits and single dashes.",
  "body-too-small": "A body of `body_bytes` cannot hold the longest texts of the input, or an example.",
  "deadline-too-long": "A paid handler could still be running when its payment runs out.",
  "duplicate-facilitator": "Two facilitators have the same id, or one has the id `remote` or `in-process`.",
  "duplicate-id": "Two ids differ in nothing but capitals.",
  "duplicate-item": "The same thing twice in a list.",
  "duplicate-key": "The same key twice in a mapping.",
  "duplicate-rail": "Two rails have the same id, or the same token on the same network.",
  "duplicate-route": "Two routes answer to the same requests, or two services share a path.",
  "duplicate-tier": "Two tiers of a currency for one price.",
  "duplicate-upstream": "Two upstreams have the same id.",
  "id-not-file-name": "The id is not the name of its file.",
  "missing-file": "A file that every set needs is not there.",
  "missing-key": "A key that is needed is not there.",
  "no-anchor-rail": "A service anchors, and the site has no rail `base`.",
  "no-rail": "A price that can be paid on no rail.",
  "not-an-object": "An input or output schema does not say `type: object`.",
  "out-of-range": "A number below or above its bounds.",
  "parameter-not-text":
    "A path parameter of a POST route whose field is not a text: only a query's texts become numbers.",
  "plugin-failed": "A plugin could not be imported or set up.",
  "plugin-invalid": "A plugin's file does not define the plugin that it is named after.",
  "price-too-fine": "A price has more decimals than a rail's token.",
  "price-too-low": "A price below 0.001 dollars, the least that facilitators settle.",
  "private-address": "An example or a default with a URL that is not public, as an input's must be.",
  "reserved-path": "A path that payphone answers itself.",
  "secret-in-set": "A credential, or the name of one, in a file that others read.",
  "syntax-error": "Not YAML 1.2, or not JSON.",
  "test-money": "Test networks beside real ones, or a well-known network that is said to be the other kind.",
  "too-few": "A list with too few items.",
  "too-long": "A text with too many characters.",
  "too-many": "A list with too many items.",
  "too-short": "A text with too few characters.",
  "unexpected-file": "A file that would not be read where it is, or that cannot be read.",
  "unknown-currency": "A rail counts a currency that has no tiers.",
  "unknown-facilitator": "A facilitator that `_site.yaml` does not list, or that does not take the rail's network.",
  "unknown-handler": "The plugin has no handler of this name.",
  "unknown-key": "A key that nothing reads.",
  "unknown-parameter": "A path parameter that the input schema does not name.",
  "unknown-placeholder": "A placeholder that the input schema does not name.",
  "unknown-plugin": "There is no plugin of this name in `plugins/`.",
  "unknown-reference": "A `$ref` that leads nowhere.",
  "unknown-schema": "There is no schema of this name in `schemas/`.",
  "unknown-upstream": "An upstream that `_site.yaml` does not list.",
  "unsafe-alias": "A YAML alias that contains itself, or aliases that grow beyond measure.",
  "unsafe-pattern": "A pattern that a hostile text can keep busy for too long.",
  "unused-input": "A field of the input that a proxied service sends nowhere.",
  "wrong-type": "A value of another kind than the key needs.",
} as const satisfies Record<string, string>;

export type FaultCode = keyof typeof FAULT_CODES;

/** A place in a file; both numbers begin at 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One fault of a set. All faults of all files are reported at once, and a faulty set is not started. */
export interface Fault extends Position {
  /** Relative to the served directory, e.g. `manifests/roll.yaml`. */
  readonly file: string;
  readonly code: FaultCode;
  /** What is wrong and, where possible, what would be right. */
  readonly message: string;
}

/** A file that was read: its data, and the position of each part. */
export interface SourceFile<Data = unknown> {
  readonly file: string;
  readonly data: Data;
  /** The position of the value at the path, or of its key; when it is missing, of the nearest enclosing value. */
  readonly locate: (path: Path, part?: "key" | "value") => Position;
}

/** A fault as a line of text: `file:line:column code message`. */
export const toFaultLine = ({ file, line, column, code, message }: Fault): string =>
  `${file}:${line}:${column} ${code} ${message}`;

/** Compares faults by file, line, column, code and message: the order of every report. */
export function byPlace(a: Fault, b: Fault): number {
  const texts = compare(a.code, b.code) || compare(a.message, b.message);
  return compare(a.file, b.file) || a.line - b.line || a.column - b.column || texts;
}

const toLabel = (path: Path): string => toPathText(path) || "the file";

/** A fault of the value at the path. The message begins with the path, and with the value if it is a short text. */
export function faultAt(source: SourceFile, path: Path, code: FaultCode, complaint: string): Fault {
  const value = path.reduce<unknown>((data, step) => (data as Record<string | number, unknown>)?.[step], source.data);
  const text = typeof value === "string" && value.length <= 80 ? ` ${JSON.stringify(value)}` : "";
  return { file: source.file, ...source.locate(path), code, message: `${toLabel(path)}${text}: ${complaint}` };
}

/** A fault of the key at the path: unknown, missing or malformed. */
export const faultAtKey = (source: SourceFile, path: Path, code: FaultCode, complaint: string): Fault => ({
  file: source.file,
  ...source.locate(path, "key"),
  code,
  message: `${toLabel(path)}: ${complaint}`,
});

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
