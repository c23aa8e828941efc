import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";

/** A server in a facilitator's place, which answers as a test says. */
export interface FacilitatorStub {
  readonly url: string;
  respond: (request: IncomingMessage, response: ServerResponse, body: string) => void;
  /** From now on it answers with this status and JSON. */
  answer(status: number, body: string): void;
  close(): void;
}

export async function openFacilitatorStub(): Promise<FacilitatorStub> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => stub.respond(request, response, body));
  });
  const stub: FacilitatorStub = {
    url: `${await listenOnLoopback(server)}/x402`,
    respond: (_request, response) => void response.writeHead(500).end(),
    answer(status, body) {
      stub.respond = (_request, response) =>
        response.writeHead(status, { "content-type": "application/json" }).end(body);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return stub;
}
