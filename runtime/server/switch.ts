import type { RequestListener } from "node:http";

/** A listener whose target can be replaced while requests are in flight. */
export interface ListenerSwitch {
  /** Hands each request to the current target. */
  readonly listener: RequestListener;
  /** Makes `next` the target. Resolves when every request to the previous target has ended. */
  turnTo(next: RequestListener): Promise<void>;
}

export function createSwitch(first: RequestListener): ListenerSwitch {
  let target = createTarget(first);
  return {
    listener: (request, response) => target.serve(request, response),
    turnTo(next) {
      const former = target;
      target = createTarget(next);
      return former.ended();
    },
  };
}

interface Target {
  readonly serve: RequestListener;
  ended(): Promise<void>;
}

/** Counts the requests in flight of one listener. */
function createTarget(listener: RequestListener): Target {
  const { promise, resolve } = Promise.withResolvers<void>();
  let inFlight = 0;
  let isFormer = false;
  return {
    serve(request, response) {
      if (response.closed) return; // Its client has left already, as in a middleware of the host that takes its time.
      inFlight += 1;
      response.once("close", () => {
        inFlight -= 1;
        if (isFormer && inFlight === 0) resolve();
      });
      listener(request, response);
    },
    ended() {
      isFormer = true;
      if (inFlight === 0) resolve();
      return promise;
    },
  };
}
