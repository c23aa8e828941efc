import type { Request, RequestHandler, Response } from "express";
import { Problem } from "../../api/problem.ts";
import { toProblemReply } from "../reply/problems.ts";
import type { Reply, Send } from "../reply/reply.ts";
import { exchangeOf } from "../request/exchange.ts";
import { toOptionsReply } from "./preflight.ts";

/** Makes the answer to a request. HEAD is asked as GET; its body is not sent. */
export type Answer = (request: Request, response: Response) => Reply | Promise<Reply>;

/** What can be asked of one path. */
export interface Methods {
  readonly GET?: Answer;
  readonly POST?: Answer;
}

/** One path with all its methods: OPTIONS tells them, and any other is refused with `Allow`. */
export function toHandler(methods: Methods, send: Send): RequestHandler {
  const allow = [methods.GET && "GET, HEAD", methods.POST && "POST", "OPTIONS"].filter(Boolean).join(", ");
  return (request, response) => {
    const answer = answerTo(request.method, methods);
    const reply = answer ? answer(request, response) : withoutAnswer(request, response, allow);
    if (reply instanceof Promise) return reply.then((ready) => send(response, ready));
    send(response, reply);
  };
}

function answerTo(method: string, { GET, POST }: Methods): Answer | undefined {
  if (method === "GET" || method === "HEAD") return GET;
  return method === "POST" ? POST : undefined;
}

function withoutAnswer(request: Request, response: Response, allow: string): Reply {
  if (request.method === "OPTIONS") return toOptionsReply(allow, request.get("access-control-request-headers"));
  const exchange = exchangeOf(response);
  const problem = new Problem(
    "method-not-allowed",
    `${exchange.path} does not answer ${request.method}; it has ${allow}`,
  );
  exchange.code = problem.code;
  return toProblemReply(problem, exchange.id, ["Allow", allow]);
}
