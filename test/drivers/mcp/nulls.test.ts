import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import { connectMcp, type McpConnection } from "../../../runtime/drivers/mcp/connection.ts";
import { openToolSite, type ToolSite } from "../../support/sources/tool-site.ts";

const PLAIN = { type: "text", text: "here" };
const RESULT = {
  content: [{ ...PLAIN, annotations: null, _meta: null }],
  structuredContent: null,
  isError: null,
  _meta: null,
};
const OWN = { name: "work", inputSchema: { type: "object", properties: { city: { default: null } } } };
const TOOL = { ...OWN, title: null, description: null, annotations: { readOnlyHint: true, title: null } };

describe("an MCP server that writes null for what it does not say", () => {
  let site: ToolSite;
  let connection: McpConnection;
  before(async () => {
    site = await openToolSite("sessions");
    connection = await connectMcp({ url: site.url, headers: {} }, 30_000);
  });
  after(async () => {
    await connection.close();
    await site.close();
  });

  /** The next request gets this result. @param more members of the message beside it */
  const answerWith = (result: object, more = {}): void =>
    site.intercept(async (response) => {
      site.intercept(undefined);
      const { id } = JSON.parse((await buffer(response.req)).toString());
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result, ...more }));
    });

  it("has tools, and answers, as if it had left that out", async () => {
    answerWith({ tools: [TOOL], nextCursor: null, _meta: null });
    const tools = [{ ...OWN, annotations: { readOnlyHint: true } }];
    expect(await connection.tools()).to.deep.equal({ tools, malformed: [] });
    answerWith(RESULT);
    const answer = await connection.call("work", {}, { signal: new AbortController().signal, timeoutMs: 30_000 });
    expect(answer).to.deep.equal({ content: [PLAIN] });
    answerWith(RESULT, { error: null });
    const again = await connection.call("work", {}, { signal: new AbortController().signal, timeoutMs: 30_000 });
    expect(again, "for these the client would refuse the whole message").to.deep.equal({ content: [PLAIN] });
  });
});
