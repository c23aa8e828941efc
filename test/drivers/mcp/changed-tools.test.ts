import { expect } from "chai";
import { openToolSite, type SiteTool } from "../../support/sources/tool-site.ts";
import { openToolShop } from "./tool-shop.ts";

const TOOL: SiteTool = { name: "write", inputSchema: { type: "object" }, run: () => ({ content: [] }) };
/** As servers made with the SDKs answer an input that their schema refuses. */
const ASKING: SiteTool = {
  ...TOOL,
  inputSchema: { type: "object", properties: { units: { type: "string" } }, required: ["units"] },
  run: () => ({
    isError: true,
    content: [{ type: "text", text: "MCP error -32602: Invalid arguments for tool write" }],
  }),
};

describe("a tool that asks for more than its service takes, since its server has changed it", () => {
  for (const [terms, after, charged] of [
    ["", 502, 0],
    ["charge: first", 503, 1],
  ] as const)
    it(`is charged ${charged} times, and named in the log with what it asks for: ${terms || "charge last"}`, async () => {
      await using opened = new AsyncDisposableStack();
      const site = await openToolSite("sessions");
      opened.defer(site.close);
      site.offer(TOOL);
      const shop = await openToolShop(site, terms);
      opened.defer(shop.close);
      const buy = async (): Promise<[status: number, body: string]> => {
        const response = await shop.buy("/v1/write", {});
        return [response.status, await response.text()];
      };
      expect((await buy())[0]).to.equal(200);
      site.offer(ASKING);
      for (const status of [502, after, after]) {
        const [refused, why] = await buy();
        expect([refused, shop.rail.moved.size]).to.deep.equal([status, 1 + charged]);
        expect(why).to.include("Site's tool takes other input than this service: units: Field required");
        shop.clock.advance(20_000);
      }
      const told = shop
        .output()
        .split("\n")
        .filter((line) => line.includes("mcp.tool-changed"));
      expect(told.map((line) => JSON.parse(line))).to.have.lengthOf(1);
      expect(told[0]).to.include('"tool":"write","reason":"units: Field required"');
      site.offer(TOOL);
      shop.clock.advance(20_000);
      expect([(await buy())[0], shop.rail.moved.size]).to.deep.equal([200, 2 + charged]);
    });

  it("passes on what the tool says of an input that its schema allows", async () => {
    await using opened = new AsyncDisposableStack();
    const site = await openToolSite("sessions");
    opened.defer(site.close);
    site.offer({ ...ASKING, inputSchema: { type: "object" } });
    const shop = await openToolShop(site);
    opened.defer(shop.close);
    const response = await shop.buy("/v1/write", {});
    expect([response.status, shop.rail.moved.size]).to.deep.equal([400, 0]);
    expect(await response.text()).to.include("Invalid arguments for tool write");
    expect(shop.output()).not.to.include("mcp.tool-changed");
  });
});
