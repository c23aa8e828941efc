import { expect } from "chai";
import type { Problem } from "../../../runtime/api/problem.ts";
import { openToolSite, type SiteTool } from "../../support/sources/tool-site.ts";
import { createTestClock } from "../../support/test-clock.ts";
import { openSiteServer } from "./site-server.ts";
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
    site.offer({ ...ASKING, inputSchema: { type: "object", properties: { units: { type: "string" } } } });
    const shop = await openToolShop(site);
    opened.defer(shop.close);
    const response = await shop.buy("/v1/write", { unit: "mm" });
    expect([response.status, shop.rail.moved.size]).to.deep.equal([400, 0]);
    expect(await response.text()).to.include("Invalid arguments for tool write");
    expect(shop.output()).not.to.include("mcp.tool-changed");
  });
});

describe("an MCP server whose credential has run out amid a session", () => {
  it("is told in /ready to refuse it, and not to have failed, until it takes one again", async () => {
    const site = await openToolSite("sessions");
    site.offer(TOOL);
    const clock = createTestClock();
    const server = openSiteServer(site.url, { clock });
    const call = (): Promise<string> =>
      server.call("write", {}, new AbortController().signal).then(
        () => "done",
        ({ message }: Error) => message,
      );
    try {
      expect([await call(), server.outage()]).to.deep.equal(["done", undefined]);
      site.intercept((response) => void response.writeHead(401, { "www-authenticate": "Bearer" }).end());
      expect(await call()).to.equal("Something went wrong on our side");
      expect(server.outage()).to.equal("Site refuses the credential that it is sent");
      site.intercept((response) => void response.socket?.destroy());
      clock.advance(5000);
      expect(await call()).to.equal("Site cannot be reached");
      expect(server.outage()).to.equal("Site has failed and is not asked for a while");
      site.intercept(undefined);
      clock.advance(5000);
      expect([await call(), server.outage()]).to.deep.equal(["done", undefined]);
    } finally {
      await server.close();
      await site.close();
    }
  });

  it("is said to lack the scope that a tool needs", async () => {
    const site = await openToolSite("sessions");
    site.offer(TOOL);
    const server = openSiteServer(site.url, { clock: createTestClock() });
    const lacking = { "www-authenticate": 'Bearer error="insufficient_scope", scope="admin"' };
    try {
      await server.call("write", {}, new AbortController().signal);
      site.intercept((response) => void response.writeHead(403, lacking).end());
      const error: Problem = await server.call("write", {}, new AbortController().signal).then(
        () => expect.fail("it was taken"),
        (refused: Problem) => refused,
      );
      const why = 'Site refuses payphone\'s credential: Insufficient scope: required "admin"';
      expect([error.code, (error.cause as Error | undefined)?.message]).to.deep.equal(["internal", why]);
    } finally {
      await server.close();
      await site.close();
    }
  });
});
