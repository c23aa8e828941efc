import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Problem, type ProblemCode } from "../../api/problem.ts";
import { STATUS_CODES } from "../request/node-http.ts";
import { ANY_ORIGIN } from "./headers.ts";
import { toProblemReply } from "./problems.ts";

/** Payments are sent in headers of several KB. */
export const MAX_HEADER_BYTES = 32_768;
/** How long a refused client may read the answer. Closing at once could reset the connection before that. */
const LINGER_MS = 500;

const REFUSALS: { readonly [code: string]: readonly [ProblemCode, string] } = {
  CONNECT: ["method-not-allowed", "This is no proxy"],
  ERR_HTTP_REQUEST_TIMEOUT: ["request-timeout", "The request did not arrive in time"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["payload-too-large", "The chunk extensions of the body are too large"],
  NO_HOST: ["bad-request", "The request has no Host header"],
  HPE_HEADER_OVERFLOW: ["headers-too-large", `The URL and the headers together may have ${MAX_HEADER_BYTES} bytes`],
};

/** Reasons why no earlier answer is waited for: it is the request's own, or its caller has left. */
const AT_ONCE = ["NO_HOST", "HPE_INVALID_EOF_STATE"];

/**
 * Answers a request that could not be read, and closes its connection. Returns what was answered; undefined when nothing
 * could be, or when the answer to the request before it is being made, with which the connection then ends.
 * @param reason the code of Node's error, or `NO_HOST`, or `CONNECT`
 */
export function refuseConnection(reason: string | undefined, socket: Duplex): Problem | undefined {
  // As Node does by default: an answer in progress must not be mixed with another.
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse };
  if (!socket.writable || answer?.headersSent || reason === "ECONNRESET") {
    socket.destroy();
    return undefined;
  }
  if (answer?.req.complete && !AT_ONCE.includes(reason ?? "")) {
    answer.shouldKeepAlive = false;
    return undefined;
  }
  const [code, detail] = REFUSALS[reason ?? ""] ?? ["bad-request", "This is not a valid HTTP request"];
  const problem = new Problem(code, detail);
  socket.end(toMessage(problem));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  return problem;
}

function toMessage(problem: Problem): string {
  const allow = problem.code === "method-not-allowed" ? ["Allow", "GET, HEAD, POST, OPTIONS"] : [];
  const { status, headers, body = "" } = toProblemReply(problem, undefined, [...ANY_ORIGIN, ...allow]);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  lines.push("Connection: close", `Content-Length: ${Buffer.byteLength(body)}`);
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}
