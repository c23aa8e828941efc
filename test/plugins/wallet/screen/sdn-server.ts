import { createServer, type ServerResponse } from "node:http";
import { closeServer, listenOnLoopback } from "../../../../runtime/sandbox/json-rpc.ts";

/** OFAC's list service on a free port of the loopback, whose every answer the test decides. */
export interface SdnServer {
  readonly url: string;
  /** How often it was asked. */
  asked: number;
  answer: (response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function openSdnServer(): Promise<SdnServer> {
  const server = createServer((_, response) => {
    opened.asked += 1;
    opened.answer(response);
  });
  const opened: SdnServer = {
    url: `${await listenOnLoopback(server)}/SDN.XML`,
    asked: 0,
    answer: (response) => response.writeHead(404).end(),
    close: () => closeServer(server),
  };
  return opened;
}

/** Answers with a document. */
export const sends =
  (document: string | Uint8Array): SdnServer["answer"] =>
  (response) => {
    response.writeHead(200, { "content-type": "application/xml" }).end(document);
  };

/** Promises a whole document, and breaks off after some of its bytes. */
export const breaksOffAfter =
  (document: string, bytes: number): SdnServer["answer"] =>
  (response) => {
    const length = Buffer.byteLength(document);
    response.writeHead(200, { "content-type": "application/xml", "content-length": length });
    response.write(Buffer.from(document).subarray(0, bytes), () => response.destroy());
  };
