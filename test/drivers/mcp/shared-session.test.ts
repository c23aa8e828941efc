import { expect } from "chai";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { problemOf } from "../../support/thrown.ts";
import { openSiteServer } from "./site-server.ts";

const SIGNAL = new AbortController().signal;

describe("a session over Streamable HTTP that several calls share", () => {
  for (const kind of ["stateless", "sessions"] as const)
    for (const status of [403, 413, 502])
      it(`brings the others to their end when one is answered with ${status}, ${kind}`, async () => {
        const site = await openToolSite(kind);
        const begun = Promise.withResolvers<void>();
        const may = Promise.withResolvers<void>();
        const inputSchema = { type: "object" as const };
        site.offer({
          name: "work",
          inputSchema,
          async run() {
            begun.resolve();
            await may.promise;
            return { content: [{ type: "text", text: "done" }] };
          },
        });
        const server = openSiteServer(site.url);
        try {
          const work = server.call("work", {}, SIGNAL);
          await begun.promise;
          site.intercept((response) => void response.writeHead(status).end());
          await problemOf(server.call("other", {}, SIGNAL));
          site.intercept(undefined);
          may.resolve();
          expect((await work).content).to.deep.equal([{ type: "text", text: "done" }]);
          expect((await server.call("work", {}, SIGNAL)).content).to.have.length(1);
        } finally {
          await server.close();
          await site.close();
        }
      });
});

describe("the answer of an MCP server", () => {
  it("is read although this process stood still until the call's time was up", async () => {
    const site = await openToolSite("stateless");
    site.offer({
      name: "stand_still",
      inputSchema: { type: "object" },
      async run() {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1600);
        return { content: [{ type: "text", text: "done" }] };
      },
    });
    const server = openSiteServer(site.url, { timeoutMs: 1000 });
    const answer = await server
      .call("stand_still", {}, SIGNAL)
      .finally(() => Promise.all([server.close(), site.close()]));
    expect(answer.content).to.deep.equal([{ type: "text", text: "done" }]);
  });
});
