import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Llm } from "../../runtime/api/capabilities.ts";
import type { Manifest } from "../../runtime/core/set/manifest.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import { createLlm } from "../../runtime/drivers/llm/llm.ts";
import { readManifest } from "./host.ts";

const SCHEMAS = join(import.meta.dirname, "../../schemas");

/** The live driver on an endpoint of a test, with the limits and the schemas of the project's own manifests. */
export const createServicesLlm = (baseUrl: string): Llm =>
  createLlm({
    endpoint: { baseUrl, apiKey: "sk-of-a-test", model: "gpt-4.1-mini", fallbackModel: undefined },
    limitsOf: (service) => (readManifest(service) as Partial<Manifest>).llm,
    schemaOf: (service) => JSON.parse(readFileSync(join(SCHEMAS, `${readManifest(service).output}.json`), "utf8")),
    clock: { now: Date.now },
    log: silentLog,
  });
