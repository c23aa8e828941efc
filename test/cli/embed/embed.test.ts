import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import {
  connect,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { json as jsonOf } from "node:stream/consumers";
import { expect } from "chai";
import express from "express";
import fastify from "fastify";
import { openPayphone, type Payphone } from "../../../runtime/cli/embed/embed.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { edit, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { createFolder } from "../../support/folder.ts";
import { untilRailsUp } from "../../support/sellers/rails-up.ts";
import { json, receiptOf, stockFetch } from "../../support/sellers/stock-buyer.ts";

/** A server that somebody has already, with a shop below /paid and a page of its own. */
interface Host {
  readonly origin: string;
  close(): Promise<void>;
}

type OnHttp2Request = (request: Http2ServerRequest, response: Http2ServerResponse) => void;
type OpenHost = (listener: RequestListener) => Promise<Host>;

const HOSTS: Readonly<Record<string, OpenHost>> = {
  Express: async (listener) => {
    const app = express();
    app.get("/own", (_, response) => void response.send("the host's"));
    app.use("/paid", listener);
    return listen(createServer(app));
  },
  Fastify: async (listener) => {
    const app = fastify();
    app.get("/own", async () => "the host's");
    await app.register(async (shop) => {
      shop.removeAllContentTypeParsers();
      shop.addContentTypeParser("*", (_request, _body, done) => done(null)); // payphone reads bodies itself.
      shop.all("/paid/*", (request, reply) => {
        reply.hijack();
        listener(request.raw, reply.raw);
      });
    });
    const origin = await app.listen({ port: 0, host: "127.0.0.1" });
    return { origin, close: () => app.close() };
  },
  "a bare server of node:http": (listener) =>
    listen(
      createServer((request, response) => {
        if (request.url?.startsWith("/paid/")) listener(request, response);
        else response.end("the host's");
      }),
    ),
};

async function listen(server: Server): Promise<Host> {
  return { origin: await listenOnLoopback(server), close: () => closeServer(server) };
}

describe("openPayphone", () => {
  let sandbox: TestSandbox;
  let dir: string;
  before(async () => {
    sandbox = await sharedSandbox();
    dir = await makeDirectory(TOSS);
  });

  for (const [name, openHost] of Object.entries(HOSTS))
    describe(`in ${name}`, () => {
      const data = createFolder();
      const lines: { event: string; fields: unknown }[] = [];
      let shop: Payphone;
      let host: Host;
      let base: string;

      before(async () => {
        let listener: RequestListener = () => expect.fail("a request came before the shop was there");
        host = await openHost((request, response) => listener(request, response));
        base = `${host.origin}/paid`;
        const note = (event: string, fields?: unknown): void => void lines.push({ event, fields });
        const env = { ...sandbox.env, PUBLIC_BASE_URL: base, PAYPHONE_DATA_DIR: data };
        shop = openPayphone({ dir, env, log: { info: note, warn: note, error: note } });
        listener = shop.listener;
        expect((await fetch(`${base}/health`)).status).to.equal(503);
        await shop.start();
        await untilRailsUp(base);
      });
      after(async () => {
        await shop?.close();
        await host?.close();
      });

      it("sells to the stock client below the host's path, and leaves the host its own", async () => {
        const answer = await (await stockFetch(sandbox, "base"))(`${base}/v1/toss`, json({ coins: 3 }));
        expect(answer.status, await answer.clone().text()).to.equal(200);
        expect(((await answer.json()) as { sides: unknown[] }).sides).to.have.length(3);
        expect(receiptOf(answer)).to.include({ success: true });
        expect(await (await fetch(`${host.origin}/own`)).text()).to.equal("the host's");
      });

      it("names the whole address in its challenges and documents", async () => {
        const challenge = (await (await fetch(`${base}/v1/toss`, json({}))).json()) as { resource: { url: string } };
        expect(challenge.resource.url).to.equal(`${base}/v1/toss`);
        const read = async (path: string): Promise<string> => (await fetch(base + path)).text();
        expect(JSON.parse(await read("/openapi.json")).servers).to.deep.equal([{ url: base }]);
        const cards = ["/.well-known/agent-card.json", "/.well-known/agent.json"]; // The second one for clients of A2A 0.2.
        for (const path of cards) expect(JSON.parse(await read(path)).url, path).to.equal(`${base}/v1/a2a`);
        expect(JSON.parse(await read("/.well-known/x402")).resources).to.deep.equal([`${base}/v1/toss`]);
        for (const path of ["/", "/llms.txt", "/.well-known/mcp/server-card.json"]) {
          const urls = (await read(path)).match(/http:\/\/127[^"\s)\\]*/g) ?? [];
          expect(
            urls.filter((url) => !`${url}/`.startsWith(`${base}/`)),
            path,
          ).to.deep.equal([]);
          expect(urls, path).not.to.deep.equal([]);
        }
      });

      it("links its pages to what lies below the path, and to nothing above", async () => {
        for (const path of ["/", "/docs"]) {
          const page = await (await fetch(base + path, { headers: { accept: "text/html" } })).text();
          const own = [...page.matchAll(/\s(?:href|src|data-path)="(\/[^"]*)"/g)].map(([, link]) => link!);
          expect(own).to.include("/paid/docs/look.css");
          for (const link of own) expect(link).to.match(/^\/paid\//);
          for (const link of own.filter((one) => /\.\w+$/.test(one)))
            expect((await fetch(host.origin + link)).status, link).to.equal(200);
        }
      });

      it("publishes the key of its signed offers where did:web looks for it", async () => {
        const did = `did:web:${new URL(base).host.replace(":", "%3A")}:paid`;
        expect(await (await fetch(`${base}/did.json`)).json()).to.deep.include({ id: did });
        for (const path of ["/llms.txt", "/openapi.json"])
          expect(await (await fetch(base + path)).text(), path).to.include(`with the keys at ${base}/did.json.`);
      });

      it("hands its log to the host, without secrets", () => {
        expect(lines.map(({ event }) => event)).to.include("http.request");
        expect(JSON.stringify(lines)).not.to.include(sandbox.env.TREASURY_EVM_KEY!.slice(2));
      });
    });

  it("refuses to read what somebody has read before, and charges nothing", async () => {
    const data = createFolder();
    const app = express().use(express.json());
    const host = await listen(createServer(app));
    const env = {
      ...sandbox.env,
      PUBLIC_BASE_URL: `${host.origin}/paid`,
      PAYPHONE_DATA_DIR: data,
      LOG_LEVEL: "error",
    };
    const shop = openPayphone({ dir, env });
    app.use("/paid", shop.listener);
    await shop.start();
    await untilRailsUp(`${host.origin}/paid`);
    const answer = await (await stockFetch(sandbox, "base"))(`${host.origin}/paid/v1/toss`, json({ coins: 3 }));
    expect(answer.status).to.equal(503);
    expect(((await answer.json()) as { detail: string }).detail).to.include("mount payphone before express.json()");
    await shop.close();
    const closed = await fetch(`${host.origin}/paid/health`);
    expect(closed.status).to.equal(503);
    expect(await closed.json()).to.include({ detail: "The server has closed" });
    await host.close();
  });

  it("tells a host that speaks HTTP/2 that it needs HTTP/1.1, and leaves its process alive", async () => {
    const host = createHttp2Server(openPayphone({ dir, env: {} }).listener as unknown as OnHttp2Request);
    await new Promise<void>((resolve) => void host.listen(0, "127.0.0.1", resolve));
    const client = connect(`http://127.0.0.1:${(host.address() as AddressInfo).port}`);
    const request = client.request({ ":path": "/paid/health" });
    const [head] = (await once(request, "response")) as [{ ":status": number }];
    expect(head[":status"]).to.equal(503);
    expect(((await jsonOf(request)) as { detail: string }).detail).to.include("payphone speaks HTTP/1.1");
    client.close();
    await new Promise((resolve) => host.close(resolve));
  });

  it("starts with nothing to sell, and says so at every door", async () => {
    const data = createFolder();
    const site = TOSS["manifests/_site.yaml"] as string;
    const host = await listen(createServer((request, response) => shop.listener(request, response)));
    const env = { ...sandbox.env, PUBLIC_BASE_URL: host.origin, PAYPHONE_DATA_DIR: data, LOG_LEVEL: "error" };
    const shop = openPayphone({ dir: await makeDirectory({ "manifests/_site.yaml": site }), env });
    await shop.start();
    const ask = async (path: string, init?: RequestInit): Promise<string> =>
      (await fetch(host.origin + path, init)).text();
    expect(JSON.parse(await ask("/")).services).to.deep.equal([]);
    expect(JSON.parse(await ask("/openapi.json")).paths).not.to.have.property("/v1/toss");
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect(await ask("/mcp", json(list))).to.include('"tools":[]');
    const get = { jsonrpc: "2.0", id: 1, method: "tasks/get", params: { id: "none" } };
    expect(JSON.parse(await ask("/v1/a2a", json(get))).error).to.deep.include({ code: -32001 });
    await Promise.all([shop.close(), host.close()]);
  });

  it("closes once, however often it is told so, and starts again only when it has closed", async () => {
    const data = createFolder();
    const env = {
      ...sandbox.env,
      PUBLIC_BASE_URL: "http://127.0.0.1:9/paid",
      PAYPHONE_DATA_DIR: data,
      LOG_LEVEL: "error",
    };
    const shop = openPayphone({ dir, env });
    const ended: string[] = [];
    const note = (what: string) => (): void => void ended.push(what);
    await shop.start();
    const host = await listen(createServer(shop.listener));
    const closing = shop.close().then(note("closed"));
    await Promise.all([closing, shop.close().then(note("closed again")), shop.start().then(note("started"))]);
    expect(ended).to.deep.equal(["closed", "closed again", "started"]);
    expect((await fetch(`${host.origin}/paid/health`)).status).to.equal(200);
    await Promise.all([shop.close(), host.close()]);
  });

  it("refuses a Node with the faults of its first versions, before anything is sold", () => {
    const { versions } = process;
    try {
      for (const node of ["22.22.0", "24.9.0", "25.9.0", "26.7.0"]) {
        Object.defineProperty(process, "versions", { value: { ...versions, node }, configurable: true });
        expect(() => openPayphone()).to.throw(`payphone needs Node 24.21, 26.8 or newer, and this is Node ${node}`);
      }
    } finally {
      Object.defineProperty(process, "versions", { value: versions });
    }
  });

  it("says everything that is wrong when it is started, and can be started again", async () => {
    const data = createFolder();
    const faulty = await makeDirectory(edit(TOSS, "manifests/toss.yaml", 'price: "0.01"', "price: 0.01"));
    const shop = openPayphone({ dir: faulty, env: { PAYPHONE_DATA_DIR: data } });
    for (let attempt = 1; attempt <= 2; attempt++) {
      const complaint = await shop.start().then(
        () => expect.fail("it started"),
        (error: Error) => error.message,
      );
      expect(complaint).to.include("manifests/toss.yaml:5").and.to.include("PUBLIC_BASE_URL is not set");
    }
    await shop.close();
  });
});
