import { join } from "node:path";
import { BASE_URL, showSet } from "./fixture-set.ts";

/** Where the golden documents are. */
export const GOLDEN = join(import.meta.dirname, "../../fixtures/golden/documents");
export const COMMAND = "node test/surfaces/write-golden.ts";

/** What the fixture set looks like to the world, byte by byte, by the name of its golden file. */
export async function toGolden(): Promise<ReadonlyMap<string, string>> {
  const { documents, offers, services, text } = await showSet();
  const [catalog, page] = ["application/json", "text/html; charset=utf-8"].map((type) => {
    const front = documents.get("/");
    return [front, ...(front?.alternatives ?? [])].find((form) => form?.type === type)?.body.toString() ?? "";
  });
  const paid = services.filter(({ manifest }) => manifest.price !== undefined);
  const challenges = paid.flatMap((service): [string, string][] => [
    [`402-${service.manifest.id}.json`, offers.challenge(service, BASE_URL + service.path).body.toString()],
    [`402-${service.manifest.id}-tool.json`, offers.challenge(service, `${BASE_URL}/mcp`).body.toString()],
  ]);
  return new Map([
    ["index.json", catalog ?? ""],
    ["index.html", page ?? ""],
    ["docs.html", text("/docs")],
    ["openapi.json", text("/openapi.json")],
    ["x402.json", text("/.well-known/x402")],
    ["server-card.json", text("/.well-known/mcp/server-card.json")],
    ["llms.txt", text("/llms.txt")],
    ["robots.txt", text("/robots.txt")],
    ...challenges,
  ]);
}

/** JSON is spread over lines for people; put together again, it is the same byte by byte. */
export const toFile = (name: string, text: string): string =>
  name.endsWith(".json") ? `${JSON.stringify(JSON.parse(text), null, 1)}\n` : text;

export const fromFile = (name: string, file: string): string =>
  name.endsWith(".json") ? JSON.stringify(JSON.parse(file)) : file;
