import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { PATHS } from "../core/paths.ts";
import { answerNotYet } from "./listen.ts";

/** Lets requests wait while a server starts, instead of refusing them. */
export interface Hold {
  readonly listener: RequestListener;
  /** Names the listener that serves. Probes get to it at once. */
  turnTo(target: RequestListener): void;
  /** Ends the wait. Without a target, requests are answered 503. */
  open(): void;
}

/** @param mostMs after this time the wait ends by itself */
export function createHold(mostMs: number): Hold {
  let target = answerNotYet;
  let isOpen = false;
  let waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  const timer = setTimeout(open, mostMs).unref();

  function pass(mayPass: (request: IncomingMessage) => boolean): void {
    const all = waiting;
    waiting = all.filter(([request]) => !mayPass(request));
    for (const [request, response] of all) if (mayPass(request) && !response.closed) target(request, response);
  }

  function open(): void {
    clearTimeout(timer);
    isOpen = true;
    pass(() => true);
  }

  return {
    listener(request, response) {
      if (isOpen || (target !== answerNotYet && isProbe(request))) target(request, response);
      else waiting.push([request, response]);
    },
    turnTo(next) {
      target = next;
      pass(isProbe);
    },
    open,
  };
}

/** Whether a request is a health check. */
const isProbe = ({ url = "" }: IncomingMessage): boolean =>
  [PATHS.health, PATHS.ready].some((path) => url.split("?")[0]?.endsWith(path));
