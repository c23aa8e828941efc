import { expect } from "chai";
import { openToolSite, type SiteTool } from "../../support/sources/tool-site.ts";
import { openToolShop } from "./tool-shop.ts";

describe("an MCP server whose list of tools cannot be read", () => {
  it("is not asked for it by each failing call: their buyers would wait for it", async () => {
    await using opened = new AsyncDisposableStack();
    let lists = 0;
    const tool: SiteTool = {
      name: "write",
      inputSchema: { type: "object" },
      run: () => ({ isError: true, content: [{ type: "text", text: "The tool has failed" }] }),
      get isHidden(): boolean {
        lists += 1;
        throw new Error("the list is broken");
      },
    };
    const site = await openToolSite("sessions");
    site.offer(tool);
    opened.defer(site.close);
    const shop = await openToolShop(site);
    opened.defer(shop.close);
    const buy = async (): Promise<number> => (await shop.buy("/v1/write", {})).status;
    const first = await buy();
    const asked = lists;
    expect([first, asked > 0]).to.deep.equal([400, true]);
    expect([await buy(), await buy(), lists]).to.deep.equal([400, 400, asked]);
    shop.clock.advance(20_000);
    expect([await buy(), lists > asked, shop.rail.moved.size]).to.deep.equal([400, true, 0]);
  });
});

describe("a tool that its server has come to run as a task only", () => {
  it("is charged once more, as one that is gone: no input of a buyer is at fault", async () => {
    await using opened = new AsyncDisposableStack();
    const site = await openToolSite("sessions");
    opened.defer(site.close);
    site.offer({
      name: "write",
      inputSchema: { type: "object" },
      execution: { taskSupport: "required" },
      run: () => ({ isError: true, content: [{ type: "text", text: "Tool write requires task augmentation" }] }),
    });
    const shop = await openToolShop(site, "charge: first");
    opened.defer(shop.close);
    for (const status of [502, 503]) {
      const response = await shop.buy("/v1/write", {});
      expect([response.status, shop.rail.moved.size]).to.deep.equal([status, 1]);
      expect(await response.text()).to.include("Site no longer offers the tool");
    }
  });
});
