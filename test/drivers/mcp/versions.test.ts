import type { ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import { connectMcp } from "../../../runtime/drivers/mcp/connection.ts";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { openSiteServer } from "./site-server.ts";

const SIGNAL = new AbortController().signal;
const WORK = { name: "work", inputSchema: { type: "object" as const }, run: () => ({ content: [] }) };

type Answer = (response: ServerResponse) => void;
const toAnswer =
  (status: number, type: string, body: string): Answer =>
  (response) =>
    void response.writeHead(status, { "content-type": type }).end(body);
const FAILURE = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "Invalid request" } });

describe("an MCP server of an older version that is asked for its versions", () => {
  const answers: Readonly<Record<string, Answer>> = {
    "answers with a failure": toAnswer(500, "application/json", FAILURE),
    "answers with an error without its id": toAnswer(200, "application/json", FAILURE),
    "answers with a page": toAnswer(200, "text/html", "<html>"),
    "keeps the request open": () => {},
    "accepts the request and says nothing": (response) => void response.writeHead(202).end(),
  };
  for (const [what, answer] of Object.entries(answers))
    it(`is told to initialize when it ${what}`, async () => {
      const site = await openToolSite("sessions");
      site.offer(WORK);
      site.intercept((response) => {
        site.intercept(undefined);
        answer(response);
      });
      const server = openSiteServer(site.url, { connect: () => connectMcp({ url: site.url, headers: {} }, 4000) });
      try {
        expect(await server.call("work", {}, SIGNAL)).to.deep.include({ content: [] });
      } finally {
        await server.close();
        await site.close();
      }
    });
});

const OUTDATED = {
  code: -32022,
  message: "Unsupported protocol version: 2025-11-25",
  data: { supported: [], requested: "2025-11-25" },
};

describe("an MCP server that answers that it does not know its session any more", () => {
  for (const [kind, status, error] of [
    ["stateless", 400, OUTDATED],
    ["sessions", 400, OUTDATED],
    ["sessions", 200, { code: -32001, message: "Session not found" }],
    ["sessions", 200, { code: -32000, message: "Bad Request: No valid session ID provided" }],
  ] as const)
    it(`is asked in a new session, and the call is made once: ${kind}, ${status}, ${error.message}`, async () => {
      const site = await openToolSite(kind);
      site.offer(WORK);
      const server = openSiteServer(site.url);
      try {
        await server.call("work", {}, SIGNAL);
        site.intercept(async (response) => {
          site.intercept(undefined);
          const { id } = JSON.parse((await buffer(response.req)).toString());
          response.writeHead(status, { "content-type": "application/json" });
          response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
        });
        expect(await server.call("work", {}, SIGNAL)).to.deep.include({ content: [] });
        expect(site.calls()).to.equal(2);
      } finally {
        await server.close();
        await site.close();
      }
    });
});

describe("an MCP server that wants fields of a tool's input in headers", () => {
  it("gets them once it has refused a call without them, and its results are held to the service's schema alone", async () => {
    const site = await openToolSite("stateless");
    const region = { type: "string", "x-mcp-header": "Region" };
    const outputSchema = { type: "object" as const, properties: { count: { type: "number" } } };
    const run = () => ({ content: [], structuredContent: { count: "1" } });
    const none = { name: "none", inputSchema: { type: "array" as never }, run };
    site.offer({ name: "work", inputSchema: { type: "object", properties: { region } }, outputSchema, run }, none);
    const server = openSiteServer(site.url);
    const error = { code: -32020, message: "Header mismatch" };
    try {
      await server.call("work", {}, SIGNAL);
      site.intercept(async (response) => {
        site.intercept(undefined);
        const { id } = JSON.parse((await buffer(response.req)).toString());
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      });
      const answer = await server.call("work", { region: "eu-west" }, SIGNAL);
      expect(answer.structuredContent).to.deep.equal({ count: "1" });
      expect(site.asked.at(-1)?.headers).to.include({ "mcp-param-region": "eu-west" });
      await server.call("work", { region: "us-east" }, SIGNAL);
      expect([site.asked.at(-1)?.headers["mcp-param-region"], site.calls()]).to.deep.equal(["us-east", 3]);
    } finally {
      await server.close();
      await site.close();
    }
  });

  it("is not asked again where its version has no such headers: it may have run the call", async () => {
    const site = await openToolSite("sessions");
    site.offer({ name: "work", inputSchema: { type: "object" as const }, run: () => ({ content: [] }) });
    const server = openSiteServer(site.url);
    try {
      await server.call("work", {}, SIGNAL);
      const asked = site.asked.length;
      site.intercept(async (response) => {
        const { id } = JSON.parse((await buffer(response.req)).toString());
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32020, message: "Out of stock" } }));
      });
      await server.call("work", {}, SIGNAL).catch(() => {});
      expect(site.asked.length - asked).to.equal(1);
    } finally {
      await server.close();
      await site.close();
    }
  });
});
