import { expect } from "chai";
import { createMcp } from "../../../runtime/surfaces/mcp/mcp.ts";
import { makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { BASE_URL, type Shown, showSet } from "../support/fixture-set.ts";

const ADDED = {
  "manifests/draw.yaml": `id: draw
title: Card draw
description: Draws cards from a fresh deck.
route: POST /v1/draw
aliases: [GET /v1/draw]
price: "0.02"
handler: draw.draw
input: { type: object, properties: { cards: { type: integer, minimum: 1, maximum: 52 } } }
output: { type: object, properties: { cards: { type: array, items: { type: string } } } }
tags: [random]
examples:
  - input: { cards: 5 }
`,
};

/** Every place where a client could meet a service. */
async function placesOf({ services, set, text, json, offers, documents }: Shown): Promise<Record<string, string>> {
  const [page] = documents.get("/")?.alternatives ?? [];
  const { site, schemas } = set;
  const invoke = () => Promise.reject(new Error("nothing is called"));
  const mcp = createMcp({ services, schemas, invoke, site, baseUrl: BASE_URL, loopback: true });
  const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const tools = await mcp.handle({
    headers: { "content-type": "application/json", accept: "application/json", host: "corner.example.org" },
    read: async () => ({ text: message, bytes: message.length }),
    admit: async () => {},
    requestId: "1",
    client: "192.0.2.1",
    signal: new AbortController().signal,
  });
  const challenges = services
    .filter(({ manifest }) => manifest.price !== undefined)
    .map((service) => offers.challenge(service, BASE_URL + service.path).body.toString());
  return {
    catalogue: JSON.stringify(json("/").services),
    "front page": page?.body.toString() ?? "",
    explorer: text("/docs"),
    description: text("/openapi.json"),
    discovery: text("/.well-known/x402"),
    "llms.txt": text("/llms.txt"),
    tools: tools.body ?? "",
    challenges: challenges.join("\n"),
  };
}

describe("a service that is added by a manifest", () => {
  it("appears everywhere, with nothing else edited, and takes nothing of the others away", async () => {
    const [before, after] = await Promise.all(
      [TOSS, { ...TOSS, ...ADDED }].map(async (files) => placesOf(await showSet(await makeDirectory(files)))),
    );
    for (const [place, text] of Object.entries(after ?? {})) {
      expect(text, place).to.include("draw").and.include("toss");
      expect(before?.[place], place).to.include("toss").and.not.include("draw");
    }
  });
});
