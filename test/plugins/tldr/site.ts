import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import type { Web } from "../../../runtime/api/capabilities.ts";
import { createGuardedFetch } from "../../../runtime/drivers/http/guarded-fetch.ts";
import { isPublicAddress } from "../../../runtime/drivers/http/public-address.ts";

/** A web site of a test, and the real guarded fetch for which this site is the public internet. */
export interface Site {
  readonly web: Web;
  /** Of the next pages: what they are, or what answers. */
  serve(page: RequestListener | Page): void;
  /** An address of the site; every name is there. */
  at(path: string): string;
  close(): Promise<void>;
}

export interface Page {
  readonly body: string | Buffer;
  readonly type?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const ADDRESS = "127.0.0.2";

export async function openSite(): Promise<Site> {
  let answer: RequestListener = (_request, response) => response.writeHead(404).end();
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((done) => server.listen(0, ADDRESS, done));
  const { port } = server.address() as AddressInfo;
  const lookup: LookupFunction = (_hostname, _options, callback) => callback(null, [{ address: ADDRESS, family: 4 }]);
  const web = createGuardedFetch({ lookup, isAllowed: (address) => address === ADDRESS || isPublicAddress(address) });
  return {
    web,
    serve(page) {
      answer = typeof page === "function" ? page : toListener(page);
    },
    at: (path) => `http://one.example:${port}${path}`,
    async close() {
      server.closeAllConnections();
      await Promise.all([web.close(), new Promise((done) => server.close(done))]);
    },
  };
}

const toListener =
  ({ body, type, status = 200, headers = {} }: Page): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { ...(type !== undefined && { "content-type": type }), ...headers }).end(body);
