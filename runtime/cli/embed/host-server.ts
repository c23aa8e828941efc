import type { IncomingMessage, RequestListener } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import { answerClosed, answerNotYet, type OpenServer } from "../../server/listen.ts";
import { toProblemReply } from "../../server/reply/problems.ts";
import { createSwitch } from "../../server/switch.ts";

/** The part of a server that `run` needs, for a server that the host has opened. */
export type HostServer = Pick<OpenServer, "attach" | "close">;

/** Passes on requests that another server receives. */
export function createHostServer(): { readonly listener: RequestListener; readonly server: HostServer } {
  const { listener, turnTo } = createSwitch(answerNotYet);
  return {
    listener: (request, response) => {
      const problem = request.httpVersionMajor > 1 ? HTTP_2 : isRead(request) ? READ_BEFORE : undefined;
      if (!problem) return listener(request, response);
      const { status, headers, body } = toProblemReply(problem);
      response.writeHead(status, [...headers]).end(body);
    },
    server: {
      attach: (next) => void turnTo(next),
      async close({ graceMs }) {
        const bound = new AbortController();
        const grace = sleep(graceMs, undefined, { signal: bound.signal, ref: false }).catch(() => undefined);
        await Promise.race([turnTo(answerClosed), grace]);
        bound.abort();
      },
    },
  };
}

const READ_BEFORE = new Problem(
  "unavailable",
  "Another part of this server has read the body before payphone could: mount payphone before express.json() and the like",
);
/** Express would end the host's process. */
const HTTP_2 = new Problem(
  "unavailable",
  "payphone speaks HTTP/1.1: mount it in a server of node:http or node:https, behind a proxy that speaks HTTP/2",
);

/**
 * Whether another handler has read the body: then the input cannot be checked against what was paid for. Requests
 * without a body always pass.
 */
const isRead = ({ readableDidRead, headers }: IncomingMessage): boolean =>
  readableDidRead && ("transfer-encoding" in headers || Number(headers["content-length"] ?? 0) > 0);
