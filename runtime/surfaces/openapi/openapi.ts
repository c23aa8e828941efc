import type { JsonObject } from "../../core/json.ts";
import { PATHS } from "../../core/paths.ts";
import type { Service } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { toGuidance } from "../discovery/guidance.ts";
import type { ShownSet } from "../schema/shown-set.ts";
import { OTHER, toContent, toOperations } from "./operations.ts";
import { ERROR_RESPONSES, OWN_SCHEMAS } from "./responses.ts";

/**
 * The machine-readable description (OpenAPI 3.1): an operation for each route. Only the main route of a service has
 * `x-payment-info`, by which directories list it. The same services give the same bytes.
 */
export function toOpenApi({ services, site, baseUrl, schemas }: ShownSet): object {
  const operations = toOperations({ services, schemas, baseUrl });
  const all = new Set(services.map(({ manifest }) => manifest.category ?? OTHER));
  const categories = [...all].filter((name) => name !== PROBES).sort();
  return {
    openapi: "3.1.0",
    info: {
      title: site.title,
      version: site.version,
      description: site.description,
      contact: site.contact,
      license: { name: "MIT", identifier: "MIT" },
      "x-guidance": toGuidance({ services, site, baseUrl }),
    },
    externalDocs: { description: "Try every service", url: baseUrl + PATHS.explorer },
    servers: [{ url: baseUrl }],
    tags: [
      ...categories.map((name) => ({ name, description: `Services: ${name}` })),
      { name: PROBES, description: "How the server is" },
    ],
    paths: { ...operations.paths, ...toOwnPaths(services, site) },
    components: { schemas: { ...operations.schemas, ...OWN_SCHEMAS }, responses: ERROR_RESPONSES },
  };
}

const PROBES = "probes";

/** The two probes, with examples of a server whose parts are all up. */
function toOwnPaths(services: readonly Service[], { name, rails, upstreams = [] }: SiteManifest): JsonObject {
  const ready = {
    status: "ready",
    store: "up",
    rails: rails.map(({ id, network }) => ({ id, network, state: "up" })),
    upstreams: upstreams.map(({ id }) => ({ id, state: "up" })),
    services: services.map(({ manifest: { id } }) => ({ id, state: "up" })),
  };
  const toFreeId = (id: string): string => (services.some(({ manifest }) => manifest.id === id) ? `${id}_probe` : id);
  return {
    [PATHS.health]: toProbe(toFreeId("health"), "Liveness", "Answers as long as the process does.", {
      "200": toProbeAnswer("Alive", "Health", { status: "ok", service: name }),
    }),
    [PATHS.ready]: toProbe(
      toFreeId("ready"),
      "Readiness",
      "The state of the store, of each payment rail and of each service.",
      {
        "200": toProbeAnswer("Ready to sell, at least in part", "Readiness", ready),
        "503": toProbeAnswer("Not ready to sell anything", "Readiness"),
      },
    ),
  };
}

function toProbe(operationId: string, summary: string, description: string, responses: JsonObject): JsonObject {
  const tooLong = { $ref: "#/components/responses/Problem414" };
  const operation = { operationId, summary, description, tags: [PROBES], security: [] };
  return { get: { ...operation, responses: { ...responses, "414": tooLong } } };
}

function toProbeAnswer(description: string, schema: string, example?: object): JsonObject {
  const content = toContent({ $ref: `#/components/schemas/${schema}` }, example ? [example] : []);
  return { description, content };
}
