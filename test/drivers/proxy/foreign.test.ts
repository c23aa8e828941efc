import { expect } from "chai";
import type { Web } from "../../../runtime/api/capabilities.ts";
import { createForeignAsk } from "../../../runtime/drivers/proxy/ask.ts";
import { problemOf } from "../../support/thrown.ts";

describe("an address that the input names", () => {
  const request = { method: "GET", target: "https://pages.example.com/a", query: "", headers: {} } as const;

  for (const [status, code] of [
    [401, "upstream-failed"],
    [403, "upstream-failed"],
    [404, "not-found"],
    [500, "upstream-failed"],
  ] as const)
    it(`has its own failure where it answers ${status}: it was sent no credential of ours`, async () => {
      const answer = { status, url: request.target, headers: { get: () => null }, body: Buffer.from("") };
      const web = { fetch: async () => answer } as unknown as Web;
      const ask = createForeignAsk(web, { maxBytes: 9, chargeOn: undefined, isIdempotent: false, accept: "*/*" });
      const problem = await problemOf(ask(request, new AbortController().signal));
      expect([problem.code, problem.message]).to.deep.equal([code, `pages.example.com answered with status ${status}`]);
    });
});
