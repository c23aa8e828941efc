/** The formats of environment variables. */
import { isIP } from "node:net";
import { base58 } from "@scure/base";

/** How to parse a variable. */
export interface ValueFormat<T> {
  /** Completes the sentence "X must be …". */
  readonly right: string;
  /** Whether the value may be secret; no message shows it then. */
  readonly hidden?: boolean;
  /** Undefined when the text does not fit. @throws RangeError when its message can say more. */
  readonly parse: (text: string) => T | undefined;
}

const oneOf = <T extends string>(...words: readonly T[]): ValueFormat<T> => ({
  right: `one of ${words.join(", ")}`,
  parse: (text) => words.find((word) => word === text),
});

/** A text that fits a pattern. */
export const matching = (right: string, pattern: RegExp): ValueFormat<string> => ({
  right,
  parse: (text) => (pattern.test(text) ? text : undefined),
});

/** A text of several lines is none, though `URL` would join them: the later ones may be variables with secrets. */
const toUrl = (text: string, protocols: readonly string[]): URL | undefined => {
  const url = /[\r\n]/.test(text) ? null : URL.parse(text);
  return url && protocols.includes(url.protocol) && url.hostname !== "" && url.hash === "" ? url : undefined;
};

const WEB = ["http:", "https:"];

/** `https://host[:port]`, without a trailing slash. */
export const ORIGIN: ValueFormat<string> = {
  right: "a web address of scheme and host alone, like https://pay.example.com (no path, query or password)",
  parse: (text) => {
    const url = toUrl(text, WEB);
    return url && `${url.origin}/` === url.href ? url.origin : undefined;
  },
};

/** A public base URL: an origin, with a path when the shop is one part of a site. */
export const BASE_URL: ValueFormat<string> = {
  right: "a web address like https://pay.example.com or https://example.com/paid (no query, password or escapes)",
  parse: (text) => {
    const url = toUrl(text, WEB);
    const path = url?.pathname.replace(/\/$/, "") ?? "";
    const isPlain = url && `${url.origin}${url.pathname}` === url.href && /^(?:\/[A-Za-z0-9][\w.~-]*)*$/.test(path);
    return isPlain ? url.origin + path : undefined;
  },
};

/** Any web address, without a slash at the end of its path. Hidden, because providers put keys into the path or the query. */
export const WEB_URL: ValueFormat<string> = {
  hidden: true,
  right: "a web address that begins with https:// or http://",
  parse: (text) => toUrl(text, WEB)?.href.replace(/^([^?]*)\/$/, "$1"),
};

/** A Redis URL, unchanged. Hidden by the caller, because it may hold a password. Clients read nothing in its query. */
export const REDIS_URL: ValueFormat<string> = {
  right:
    "an address like redis://user:password@host:6379/0 (0 is the database; rediss:// for TLS; nothing after a ?; in a password, write %25 for %, %2F for /, %23 for #)",
  parse: (text) => {
    const url = toUrl(text, ["redis:", "rediss:"]);
    if (url?.search !== "" || !/^\/?\d{0,9}$/.test(url.pathname)) return undefined;
    return isEncoded(url.username) && isEncoded(url.password) ? text : undefined;
  },
};

/** What only shells remove or replace, not a `.env`, systemd or `docker --env-file`: commands would look elsewhere. */
const SHELL_WORDS = /^["']|["']$|[\r\n]|(?:^|\/)(?:~|\$\w+|\$\{\w+\})(?:\/|$)/;

/** A folder. */
export const FOLDER: ValueFormat<string> = {
  right: "a folder, without quotes around it, and with its path in the place of ~ or $HOME",
  parse: (text) => (SHELL_WORDS.test(text) ? undefined : text),
};

/** A TCP port. */
export const PORT: ValueFormat<number> = {
  right: "a whole number from 0 to 65535 (0 = any free port)",
  parse: (text) => (/^\d{1,9}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
};
export const LOG_LEVEL = oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent");

/** The format of a sandbox's log. */
export const LOG_FORMAT = oneOf("json", "text");

/** An address or name to listen on. */
export const HOST: ValueFormat<string> = {
  right: "an address or name to listen on, like 127.0.0.1, 0.0.0.0 or ::",
  parse: (text) =>
    isIP(text) || /^(?=.{1,253}$)(?![\d.]+$)[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(text) ? text : undefined,
};

/** Decodes base58. Undefined unless it gives exactly this many bytes. */
export function base58Bytes(text: string, length: number): Uint8Array | undefined {
  if (text.length > length * 2 || !/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) return undefined;
  const bytes = base58.decode(text);
  return bytes.length === length ? bytes : undefined;
}

/** Express's `trust proxy`: the number of proxies, or their addresses. */
export const PROXIES: ValueFormat<number | readonly string[]> = {
  right:
    "the number of proxies in front (1 to 9), or their addresses: a comma-separated list of IPs, CIDR ranges, loopback, linklocal or uniquelocal",
  parse: (text) => {
    if (/^\d$/.test(text)) return Number(text);
    const names = text.split(",").map((name) => name.trim());
    return names.every((name) => isProxy(name) && !isAll(name)) ? names : undefined; // Express throws at /0.
  },
};

const isAll = (name: string): boolean => /\/0+$/.test(name);

function isProxy(name: string): boolean {
  if (["loopback", "linklocal", "uniquelocal"].includes(name)) return true;
  const [, address = "", bits = "0"] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(name) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
}

const HEADER = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/;

/** HTTP headers: a JSON object of strings, or lines of `Name: value`. */
export const HEADERS: ValueFormat<Readonly<Record<string, string>>> = {
  right: 'headers: a JSON object like {"Authorization":"Bearer …"}, or lines like Authorization: Bearer …',
  parse: (text) => {
    const lines = text.startsWith("{") ? jsonLines(text) : text.split(/\r?\n/).filter((line) => line.trim() !== "");
    return lines?.length ? toHeaders(lines.map((line) => line.trim())) : undefined;
  },
};

function toHeaders(lines: readonly string[]): Record<string, string> | undefined {
  const pairs = lines.map((line) => HEADER.exec(line));
  return pairs.every((pair) => pair !== null)
    ? Object.fromEntries(pairs.map(([, name, value]) => [name, value]))
    : undefined;
}

function jsonLines(text: string): string[] | undefined {
  try {
    const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return entries.map(([name, value]) => (typeof value === "string" ? `${name}: ${value}` : ""));
  } catch {
    return undefined;
  }
}

/** `name=value,name=value` with percent-encoded values (OpenTelemetry, OTEL_EXPORTER_OTLP_HEADERS). */
export const OTLP_HEADERS: ValueFormat<Readonly<Record<string, string>>> = {
  hidden: true,
  right: "headers like authorization=Bearer%20abc,x-team=ops",
  parse: (text) => {
    const given = text.split(",").filter((pair) => pair.trim() !== "");
    const lines = given.map((pair) => {
      const [, name = "", value = ""] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/s.exec(pair) ?? [];
      return `${name}: ${decode(value)}`;
    });
    return toHeaders(lines);
  },
};

/** Empty text, which is no value of a header, when the encoding is wrong. */
const decode = (text: string): string => (isEncoded(text) ? decodeURIComponent(text) : "");

/** Whether each % in a text begins the code of a character. */
function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The name of a header that a proxy sets, in lower case. */
export const HEADER_NAME: ValueFormat<string> = {
  right: "the name of a header, like x-forwarded-user",
  parse: (text) =>
    /^[\w-]{1,100}$/.test(text) && !TAKEN_HEADERS.includes(text.toLowerCase()) ? text.toLowerCase() : undefined,
};

/** Headers that clients send themselves, or that have another meaning. */
const TAKEN_HEADERS = ["host", "accept", "user-agent", "cookie", "connection", "x-forwarded-for", "authorization"];

export const ADDRESSES: ValueFormat<readonly string[]> = {
  right: "a comma-separated list of IP addresses and CIDR ranges, not /0, by which anybody could claim to be logged in",
  parse: (text) => {
    const names = text.split(",").map((name) => name.trim());
    const isAddress = (name: string): boolean => isIP(name.split("/")[0] as string) !== 0 && isProxy(name);
    return names.every((name) => isAddress(name) && !isAll(name)) ? names : undefined;
  },
};
