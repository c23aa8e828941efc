import { expect } from "chai";
import type { ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { openToolSite, type SiteTool, type ToolSite } from "../../support/sources/tool-site.ts";
import { openToolShop } from "./tool-shop.ts";

const TOOL: SiteTool = { name: "write", inputSchema: { type: "object" as const }, run: () => ({ content: [] }) };
/** As servers made with the SDKs for Python and TypeScript answer, which know no code for it. */
const UNKNOWN: SiteTool = {
  ...TOOL,
  run: () => ({ isError: true, content: [{ type: "text", text: "Unknown tool: write" }] }),
};

for (const kind of ["stateless", "sessions"] as const)
  describe(`a tool that is paid first, of an MCP server over HTTP, ${kind}`, () => {
    let site: ToolSite;
    let shop: ProxyShop;
    before(async () => {
      site = await openToolSite(kind);
      site.offer(TOOL);
      shop = await openToolShop(site, "charge: first");
    });
    after(async () => {
      await shop.close();
      await site.close();
    });

    for (const [what, status, answer] of [
      ["cannot be reached", 502, undefined],
      ["refuses its credential", 500, 401],
    ] as const)
      it(`costs nothing while the server ${what}`, async () => {
        site.intercept((response) => {
          if (answer === undefined) response.socket?.destroy();
          else response.writeHead(answer).end();
        });
        expect([(await shop.buy("/v1/write", {})).status, shop.rail.moved.size]).to.deep.equal([status, 0]);
        shop.clock.advance(5000);
      });

    it("is charged and done when it is there again", async () => {
      site.intercept(undefined);
      expect(await (await shop.buy("/v1/write", {})).json()).to.deep.equal({ content: [] });
      expect([site.calls(), shop.rail.moved.size]).to.deep.equal([1, 1]);
    });

    for (const [what, status, answer] of [
      ["has gone", 502, undefined],
      ["asks for a pause", 503, 429],
      ["refuses its credential", 500, 401],
    ] as const)
      it(`costs nothing when the server ${what} after earlier calls`, async () => {
        const moved = shop.rail.moved.size;
        site.intercept((response) => {
          if (answer === undefined) response.socket?.destroy();
          else response.writeHead(answer).end();
        });
        expect([(await shop.buy("/v1/write", {})).status, shop.rail.moved.size]).to.deep.equal([status, moved]);
        shop.clock.advance(20_000);
        site.intercept(undefined);
        expect([(await shop.buy("/v1/write", {})).status, shop.rail.moved.size]).to.deep.equal([200, moved + 1]);
      });

    for (const [what, tools] of [
      ["with an error", []],
      ["as if it had run", [UNKNOWN]],
    ] as const)
      it(`is charged once more after the server has renamed it, and answers ${what}`, async () => {
        const buy = async (): Promise<[status: number, body: string]> => {
          const response = await shop.buy("/v1/write", {});
          return [response.status, await response.text()];
        };
        shop.clock.advance(20_000);
        const moved = shop.rail.moved.size;
        const logged = shop.output().length;
        const { name, ...rest } = TOOL;
        const renamed = { ...rest, name: `${name}_down` };
        site.offer(renamed, ...tools.map((tool) => ({ ...tool, isHidden: true })));
        const [status, body] = await buy();
        expect([status, shop.rail.moved.size]).to.deep.equal([502, moved + 1]);
        expect(body).to.include("Site no longer offers the tool");
        for (const wait of [0, 20_000]) {
          shop.clock.advance(wait);
          const [refused, why] = await buy();
          expect([refused, shop.rail.moved.size]).to.deep.equal([503, moved + 1]);
          expect(why).to.include("Site no longer offers the tool");
        }
        expect(
          shop
            .output()
            .slice(logged)
            .match(/mcp\.tool-missing/g),
        ).to.have.lengthOf(1);
        site.offer(TOOL);
        shop.clock.advance(20_000);
        expect([(await buy())[0], shop.rail.moved.size]).to.deep.equal([200, moved + 2]);
      });
  });
