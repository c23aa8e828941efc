import type { RequestListener } from "node:http";
import type { Socket } from "node:net";

/** How many requests may wait before nothing more is read: nobody is told that the client of a paused connection is gone. */
const MOST_WAITING = 16;

/**
 * Answers one request of a connection after the other, each in its own turn of the event loop. Node calls the listener for
 * all that a connection has sent, so that a few connections with many pipelined requests would keep all others waiting.
 */
export function oneByOne(listener: RequestListener): RequestListener {
  /** The requests that wait, for each connection on which one is being answered. */
  const lines = new WeakMap<Socket, (() => void)[]>();

  function next(socket: Socket): void {
    const line = lines.get(socket);
    const start = socket.destroyed ? undefined : line?.shift();
    if (!start) return void lines.delete(socket);
    if (line?.length === 0) socket.resume();
    start();
  }

  return (request, response) => {
    const { socket } = request;
    const start = (): void => {
      response.once("close", () => setImmediate(next, socket));
      listener(request, response);
    };
    const line = lines.get(socket);
    if (!line) {
      lines.set(socket, []);
      return start();
    }
    line.push(start);
    // Later in this turn, since Node resumes the socket when it has read the request.
    process.nextTick(() => line.length > MOST_WAITING && socket.pause());
  };
}
