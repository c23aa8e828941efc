import schema from "../../../schemas/Registry.json" with { type: "json" };
import { Problem } from "../../api/problem.ts";
import { digestOf } from "../../core/digest.ts";
import { createCompiler } from "../../core/schema/validator.ts";
import { type RegistryService, toServices, toSorted } from "./services.ts";
import { readSource } from "./sources.ts";

/** Services that receive USDC on Base, with their addresses. */
export interface Registry {
  /** The date and a digest of the services: `2026-11-21-0f1e2d3c4b5a`. */
  readonly version: string;
  readonly services: readonly RegistryService[];
}

const DIGEST_LENGTH = 12;

/**
 * Builds a registry from facilitators' discovery endpoints and files. Later sources override earlier ones.
 * @param now milliseconds since the Unix epoch, for the version.
 * @throws Problem `bad-request` for a source that cannot be read or has malformed services; `upstream-failed`.
 */
export async function importRegistry(sources: readonly string[], now: number, signal: AbortSignal): Promise<Registry> {
  const services: RegistryService[] = [];
  for (const source of sources) {
    const { resources, services: listed } = await readSource(source, signal);
    services.push(...toServices(resources), ...checkServices(source, listed));
  }
  const sorted = toSorted(services);
  if (sorted.length === 0) throw new Problem("bad-request", "No source names a service that is paid in USDC on Base");
  const day = new Date(now).toISOString().slice(0, 10);
  return { version: `${day}-${digestOf(sorted).slice(0, DIGEST_LENGTH)}`, services: sorted };
}

/** The services of a registry file, checked against `schemas/Registry.json`. */
function checkServices(source: string, listed: readonly unknown[]): readonly RegistryService[] {
  const compile = createCompiler(new Map([["Registry", schema]]));
  const { value, issues } = compile("Registry").check({ version: "listed", services: listed }, "body", "own");
  const [issue] = issues;
  if (!issue) return (value as Registry).services;
  const place = issue.loc.slice(1).join(".");
  throw new Problem("bad-request", `${source} is no registry: ${place}: ${issue.msg} (${issues.length} faults in all)`);
}
