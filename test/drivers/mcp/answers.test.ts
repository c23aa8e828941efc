import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { expect } from "chai";
import { runMcpImport } from "../../../runtime/cli/import/import-mcp.ts";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import { openToolSite, type SiteTool, type ToolSite } from "../../support/sources/tool-site.ts";

const CONTENT = [{ type: "text" as const, text: "about four" }];

/** Its fields are all optional, as in many schemas, so that an empty answer would fit. */
const toTool = (run: SiteTool["run"]): SiteTool => ({
  name: "guess",
  description: "Guesses a sum.",
  annotations: { readOnlyHint: true },
  inputSchema: { type: "object" },
  outputSchema: { type: "object", properties: { sum: { type: "number" } } },
  run,
});
const GUESS = toTool(() => ({ content: [], structuredContent: { sum: 4 } }));
/** Its schema allows any further fields: content blocks as well. */
const OPEN: SiteTool = {
  ...toTool(() => ({ content: CONTENT, structuredContent: { sum: "about four" } })),
  name: "open",
  outputSchema: { type: "object", properties: { sum: { type: "number" } }, additionalProperties: true },
};
/** It has no schema of its own, and tells of failures in its text alone. */
const TOLD: SiteTool = {
  name: "told",
  description: "Guesses a sum.",
  annotations: { readOnlyHint: true },
  inputSchema: { type: "object" },
  run: () => ({ content: [{ type: "text", text: "Error fetching the sum. Please try again later." }] }),
};
const EITHER: SiteTool = {
  ...GUESS,
  name: "either",
  outputSchema: { type: "object", properties: { sum: { type: ["number", "string"] } } },
};

for (const kind of ["stateless", "sessions"] as const)
  describe(`a tool's answer, ${kind}`, () => {
    let site: ToolSite;
    let shop: ProxyShop;
    let report: string;
    before(async () => {
      site = await openToolSite(kind);
      site.offer(GUESS, OPEN, EITHER, TOLD);
      shop = await openProxyShop({ files: importTools });
    });
    after(async () => {
      await shop.close();
      await site.close();
    });
    beforeEach(() => site.offer(GUESS, OPEN));

    /** A shop that sells the tool as it is, and as a service that says when it has failed. */
    async function importTools(url: string): Promise<string> {
      const dir = await makeDirectory({ "manifests/_site.yaml": siteOf(`{ id: other, title: Other, url: "${url}" }`) });
      const command = { server: [site.url], tools: [], all: true, price: "0.004", upstream: "site" };
      ({ report } = await runMcpImport({ ...command, dir, variables: [], env: {}, isDryRun: false }));
      const guess = await readFile(join(dir, "manifests/site_guess.yaml"), "utf8");
      const judged = guess
        .replaceAll(/(site.)guess/g, "$1judged")
        .replace("tool: guess", "tool: guess, answer: { failed: /sum == 0, error: /why }");
      await writeFile(join(dir, "manifests/site_judged.yaml"), judged);
      const [, file = "", rule = ""] = /charged: site_told;.+ in (schemas\S+): (.+)/.exec(report) ?? [];
      const blocks = JSON.parse(await readFile(join(dir, file), "utf8"));
      Object.assign(blocks.properties.content.items.properties, JSON.parse(`{ ${rule} }`));
      await writeFile(join(dir, file), JSON.stringify(blocks));
      return dir;
    }

    /** Buys the answer to which the tool has changed. @returns whether it was charged, too. */
    async function buy(service: string, run?: SiteTool["run"]): Promise<[status: number, body: object, paid: number]> {
      if (run) site.offer(toTool(run));
      const before = shop.rail.moved.size;
      const response = await shop.buy(`/v1/site/${service}`, {});
      return [response.status, (await response.json()) as object, shop.rail.moved.size - before];
    }

    it("costs nothing without the data of its schema, or with other data, though no field is required", async () => {
      expect(await buy("guess")).to.deep.equal([200, { sum: 4 }, 1]);
      const others = [{ sum: "about four" }, { error: "no idea" }].map((structuredContent) => ({ structuredContent }));
      for (const result of [{}, ...others]) {
        const [status, body, paid] = await buy("guess", () => ({ content: CONTENT, ...result }));
        expect([status, paid], JSON.stringify(body)).to.deep.equal([502, 0]);
        expect(body).to.have.property("detail", "site-tools's answer does not fit this service");
      }
    });

    it("costs nothing with data that break a schema which takes further fields", async () => {
      const [status, , paid] = await buy("open");
      expect([status, paid]).to.deep.equal([502, 0]);
    });

    it("has the digits of integers that JavaScript rounds, and costs nothing where its schema takes no text", async () => {
      const sum = (JSON as unknown as { rawJSON(text: string): object }).rawJSON("1234567890123456789");
      const run = (): CallToolResult => ({ content: [], structuredContent: { sum } });
      site.offer({ ...toTool(run), name: "either" });
      expect(await buy("either")).to.deep.equal([200, { sum: "1234567890123456789" }, 1]);
      expect((await buy("guess", run)).filter(Number.isInteger)).to.deep.equal([502, 0]);
    });

    it("costs nothing where it fails in a text that its schema refuses, as the import has said", async () => {
      site.offer(TOLD);
      expect((await buy("told")).filter(Number.isInteger)).to.deep.equal([502, 0]);
      site.offer({ ...TOLD, run: () => ({ content: CONTENT }) });
      expect(await buy("told")).to.deep.equal([200, { content: CONTENT }, 1]);
    });

    it("says why it failed in the words of its data, where it has no others", async () => {
      const failed = { isError: true, content: [], structuredContent: { error: { message: "no sums today" } } };
      const [status, body, paid] = await buy("guess", () => failed);
      expect([status, paid]).to.deep.equal([400, 0]);
      expect(body).to.have.property("detail", "site-tools: no sums today");
    });

    it("costs nothing when its data say that it failed, as the manifest says", async () => {
      expect(await buy("judged")).to.deep.equal([200, { sum: 4 }, 1]);
      const failed = { content: [], structuredContent: { sum: 0, why: "no idea" } };
      const [status, body, paid] = await buy("judged", () => failed);
      expect([status, paid]).to.deep.equal([400, 0]);
      expect(body).to.have.property("detail", "site-tools: no idea");
      const [silent, , unpaid] = await buy("judged", () => ({ content: CONTENT }));
      expect([silent, unpaid]).to.deep.equal([502, 0]);
    });
  });
