import type { Request, RequestHandler, Response } from "express";
import { Problem } from "../../api/problem.ts";
import { toProblemReply } from "../reply/problems.ts";
import type { Reply, Send } from "../reply/reply.ts";
import { contextOf } from "../request/context.ts";
import type { BudgetName, Limits } from "../request/limits.ts";
import { toOptionsReply } from "./preflight.ts";

/** Makes the reply to a request. HEAD requests get the reply to GET without its body. */
export type Responder = (request: Request, response: Response) => Reply | Promise<Reply>;

export interface Methods {
  readonly GET?: Responder;
  readonly POST?: Responder;
}

export interface HandlerOptions {
  readonly limits: Pick<Limits, "take">;
  /** The budget of a request; undefined when its responder counts the request itself, or when it is not limited. */
  readonly budgetOf: (request: Request) => BudgetName | undefined;
  readonly send: Send;
}

/** Handles all methods of one path: OPTIONS lists them, and unknown ones are refused with `Allow`. */
export function toHandler(methods: Methods, { limits, budgetOf, send }: HandlerOptions): RequestHandler {
  const allow = [methods.GET && "GET, HEAD", methods.POST && "POST", "OPTIONS"].filter(Boolean).join(", ");
  return (request, response) => {
    const respond = responderOf(request.method, methods);
    const budget = respond ? budgetOf(request) : "free";
    const answer = (): void | Promise<void> => {
      const reply = respond ? respond(request, response) : toMethodsReply(request, response, allow);
      if (reply instanceof Promise) return reply.then((ready) => send(response, ready));
      send(response, reply);
    };
    return budget ? limits.take(contextOf(response).client, budget).then(answer) : answer();
  };
}

function responderOf(method: string, { GET, POST }: Methods): Responder | undefined {
  if (method === "GET" || method === "HEAD") return GET;
  return method === "POST" ? POST : undefined;
}

function toMethodsReply(request: Request, response: Response, allow: string): Reply {
  if (request.method === "OPTIONS") return toOptionsReply(allow, request.get("access-control-request-headers"));
  const context = contextOf(response);
  const problem = new Problem(
    "method-not-allowed",
    `${context.path} does not answer ${request.method}; it has ${allow}`,
  );
  context.code = problem.code;
  return toProblemReply(problem, context.id, ["Allow", allow]);
}
