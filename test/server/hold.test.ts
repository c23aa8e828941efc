import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createHold } from "../../runtime/server/hold.ts";

const LONG_MS = 600_000;

describe("requests while a server starts", () => {
  const opened: Server[] = [];
  afterEach(() => {
    for (const server of opened.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** @returns the server's URL, and what resolves when so many requests have come */
  async function serve(listener: RequestListener): Promise<{ url: string; come: (count: number) => Promise<void> }> {
    let count = 0;
    let heard = (): void => {};
    const server = createServer((request, response) => {
      listener(request, response);
      count += 1;
      heard();
    });
    opened.push(server);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const come = (wanted: number): Promise<void> =>
      new Promise((done) => {
        heard = () => count >= wanted && done();
        heard();
      });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, come };
  }

  const answer: RequestListener = async (request, response) => {
    let size = 0;
    for await (const chunk of request) size += chunk.length;
    response.end(`${request.url} ${size}`);
  };

  it("wait until it can serve; probes until there is who answers them", async () => {
    const { listener, turnTo, open } = createHold(LONG_MS);
    const { url, come } = await serve(listener);
    const said: string[] = [];
    const ask = (path: string, init?: RequestInit): Promise<unknown> =>
      fetch(url + path, init)
        .then((response) => response.text())
        .then((text) => said.push(text));
    const probes = [ask("/health"), ask("/shop/ready?now")];
    const calls = [ask("/v1/roll", { method: "POST", body: "x".repeat(200_000) }), ask("/")];
    await come(4);
    expect(said).to.deep.equal([]);
    turnTo(answer);
    await Promise.all(probes);
    await ask("/ready");
    expect(said.sort()).to.deep.equal(["/health 0", "/ready 0", "/shop/ready?now 0"]);
    open();
    await Promise.all(calls);
    await ask("/late");
    expect(said.slice(3).sort()).to.deep.equal(["/ 0", "/late 0", "/v1/roll 200000"]);
  });

  it("are answered 503 when it takes too long, or does not start at all", async () => {
    const late = await serve(createHold(1).listener);
    expect((await fetch(late.url)).status).to.equal(503);
    const { listener, open } = createHold(LONG_MS);
    const { url, come } = await serve(listener);
    const asked = fetch(url);
    await come(1);
    open();
    expect([(await asked).status, (await fetch(url)).status]).to.deep.equal([503, 503]);
  });

  it("are forgotten when who asked has left", async () => {
    const { listener, turnTo, open } = createHold(LONG_MS);
    const { url, come } = await serve((request, response) => {
      response.once("close", () => left.resolve());
      listener(request, response);
    });
    const left = Promise.withResolvers<void>();
    const leaving = new AbortController();
    const asked = fetch(url, { signal: leaving.signal }).catch(() => "left");
    await come(1);
    leaving.abort();
    await left.promise;
    expect(await asked).to.equal("left");
    turnTo(() => expect.fail("nobody waits for this answer"));
    open();
  });
});
