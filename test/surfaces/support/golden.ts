import { createHash } from "node:crypto";
import { join } from "node:path";
import { Document, isCollection, visit } from "yaml";
import type { Service } from "../../../runtime/core/service.ts";
import { BASE_URL, type Loose, type Shown, showSet } from "./fixture-set.ts";

/** Where the golden documents are. */
export const GOLDEN = join(import.meta.dirname, "../../fixtures/golden/documents");
export const COMMAND = "node test/surfaces/write-golden.ts";

/**
 * What the fixture set looks like to the world, by the name of its golden file: pages as they are, and JSON as YAML, one
 * file for each service and one for the shop. `digests.yaml` holds every document to its bytes.
 */
export async function toGolden(): Promise<ReadonlyMap<string, string>> {
  const shown = await showSet();
  const { openapi, x402, catalogue } = toJsonDocuments(shown);
  const { components, ...rest } = openapi;
  const isOwn = (item: Loose): boolean => Object.values<Loose>(item).some(({ tags }) => tags.includes("probes"));
  const ownPaths = Object.fromEntries(Object.entries(rest.paths).filter(([, item]) => isOwn(item)));
  const shop = {
    catalogue: { ...catalogue, services: undefined },
    openapi: { ...rest, paths: ownPaths },
    x402: { ...x402, routes: undefined },
    serverCard: shown.json("/.well-known/mcp/server-card.json"),
  };
  const pages = { "index.html": frontOf(shown, "text/html; charset=utf-8"), "docs.html": shown.text("/docs") };
  return new Map([
    ...Object.entries({ ...pages, "llms.txt": shown.text("/llms.txt"), "robots.txt": shown.text("/robots.txt") }),
    ["digests.yaml", toYaml(toDigests(shown))],
    ["shop.yaml", toYaml(shop)],
    ["components.yaml", toYaml(components)],
    ...shown.services.map((service): [string, string] => [
      `service-${service.manifest.id}.yaml`,
      toYaml(ofService(shown, service)),
    ]),
  ]);
}

const toJsonDocuments = (shown: Shown): Record<"openapi" | "x402" | "catalogue", Loose> => ({
  openapi: shown.json("/openapi.json"),
  x402: shown.json("/.well-known/x402"),
  catalogue: JSON.parse(frontOf(shown, "application/json")),
});

/** The front page in one of its forms. */
function frontOf({ documents }: Shown, type: string): string {
  const front = documents.get("/");
  return [front, ...(front?.alternatives ?? [])].find((form) => form?.type === type)?.body.toString() ?? "";
}

/** What the documents say of one service. */
function ofService(shown: Shown, service: Service): object {
  const { openapi, x402, catalogue } = toJsonDocuments(shown);
  const { id } = service.manifest;
  const isIts = (entry: Loose): boolean => entry.id === id;
  const [challenge, toolChallenge] = challengesOf(shown, service).map(([, body]) => JSON.parse(body));
  return {
    catalogue: catalogue.services.find(isIts),
    openapi: { [service.path]: openapi.paths[service.path] },
    x402: x402.routes.find(isIts),
    challenge,
    tool_challenge: toolChallenge && { ...toolChallenge, accepts: undefined }, // The offers are the same.
  };
}

/** Its challenges, by the door at which it is asked for; none where it is free. */
function challengesOf({ offers }: Shown, service: Service): [name: string, body: string][] {
  if (service.manifest.price === undefined) return [];
  return [
    ["challenge", offers.challenge(service, BASE_URL + service.path).body.toString()],
    ["tool_challenge", JSON.stringify(offers.challenge(service, `${BASE_URL}/mcp`).lean)],
  ];
}

/** The beginning of the SHA-256 of each JSON document. */
function toDigests(shown: Shown): Record<string, string> {
  const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
  const paths = ["/openapi.json", "/.well-known/x402", "/.well-known/mcp/server-card.json"];
  const challenges = shown.services.flatMap((service) =>
    challengesOf(shown, service).map(([name, body]) => [`${name} of ${service.manifest.id}`, digest(body)]),
  );
  return {
    "/": digest(frontOf(shown, "application/json")),
    ...Object.fromEntries(paths.map((path) => [path, digest(shown.text(path))])),
    ...Object.fromEntries(challenges),
  };
}

/** YAML for people: what is short stands on one line. */
function toYaml(value: unknown): string {
  const document = new Document(JSON.parse(JSON.stringify(value)));
  visit(document, {
    Collection(_key, node) {
      if (isCollection(node) && JSON.stringify(node).length <= 100) node.flow = true;
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}
