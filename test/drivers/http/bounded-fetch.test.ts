import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { createBoundedFetch } from "../../../runtime/drivers/http/bounded-body.ts";
import { openSource, type ScriptedSource } from "../../support/sources/scripted-source.ts";

describe("a fetch with a bound", () => {
  let source: ScriptedSource;
  before(async () => {
    source = await openSource();
  });
  after(() => source.close());

  const fetch = createBoundedFetch("The source", 1000);

  it("gives an answer as it came", async () => {
    source.script({ status: 418, headers: { "x-one": "1" }, body: "x".repeat(1000) }, { status: 204 });
    const response = await fetch(source.url);
    expect([response.status, response.headers.get("x-one")]).to.deep.equal([418, "1"]);
    expect(await response.text()).to.have.length(1000);
    expect((await fetch(source.url)).body).to.equal(null);
  });

  for (const [what, read] of [
    ["nobody has read from it", undefined],
    ["a part was read", (body: ReadableStreamDefaultReader) => body.read()],
  ] as const)
    it(`closes the connection of an answer that is not wanted, also where ${what}`, async () => {
      const closed = Promise.withResolvers<void>();
      source.script((response: ServerResponse) => {
        response.writeHead(200).write("x");
        void once(response, "close").then(() => closed.resolve());
      });
      const reader = (await fetch(source.url)).body!.getReader();
      await read?.(reader);
      await reader.cancel();
      await closed.promise;
    });

  it("fails after its bytes, and closes the connection", async () => {
    const closed = Promise.withResolvers<void>();
    source.script((response: ServerResponse) => {
      response.writeHead(200).write("x".repeat(1001));
      void once(response, "close").then(() => closed.resolve());
    });
    const failure = await (await fetch(source.url)).text().catch((error: Error) => error);
    expect(String(failure)).to.include("The source answered with more than 1000 bytes");
    await closed.promise;
  });
});
