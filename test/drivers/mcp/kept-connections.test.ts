import { expect } from "chai";
import type { ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { openToolSite, type ToolSite } from "../../support/sources/tool-site.ts";
import { openToolShop } from "./tool-shop.ts";

for (const kind of ["stateless", "sessions"] as const)
  describe(`an MCP server over HTTP that closes a kept connection as a call arrives, ${kind}`, () => {
    let site: ToolSite;
    let shop: ProxyShop;
    beforeEach(async () => {
      site = await openToolSite(kind);
      site.offer({ name: "write", inputSchema: { type: "object" }, run: () => ({ content: [] }) });
    });
    afterEach(async () => {
      await shop.close();
      await site.close();
    });

    async function open(hints: string): Promise<void> {
      shop = await openToolShop(site, `hints: ${hints}`);
      expect((await shop.buy("/v1/write", {})).status).to.equal(200);
    }

    /** Closes the connections of the next requests. */
    function close(requests: number): void {
      let left = requests;
      site.intercept((response) => {
        left -= 1;
        if (left === 0) site.intercept(undefined);
        response.socket?.destroy();
      });
    }

    for (const hints of ["{ readOnly: true }", "{ idempotent: true }"])
      it(`is called again, so that the buyer gets the answer: ${hints}`, async () => {
        await open(hints);
        close(1);
        expect((await shop.buy("/v1/write", {})).status).to.equal(200);
        expect(site.calls()).to.equal(2);
      });

    it("is called again once at most", async () => {
      await open("{ readOnly: true }");
      close(2);
      expect((await shop.buy("/v1/write", {})).status).to.equal(502);
      expect([site.calls(), shop.rail.moved.size]).to.deep.equal([1, 1]);
    });

    it("is called once where the call may have done something", async () => {
      await open("{ openWorld: true }");
      close(1);
      expect((await shop.buy("/v1/write", {})).status).to.equal(502);
      expect([site.calls(), shop.rail.moved.size]).to.deep.equal([1, 1]);
    });
  });
