import type { Draft } from "./draft.ts";
import { type Fault, faultAt } from "./faults.ts";
import { toStatusId } from "./job-manifests.ts";
import { isReserved, overlaps, parametersOf, parseRoute } from "./route.ts";

/** Checks the job of a manifest: its status route, and conflicts with routes and ids of other services. */
export function checkJob(draft: Draft, all: readonly Draft[]): Fault[] {
  const { id, job, route, aliases = [] } = draft.data;
  if (!job) return [];
  const fail = (code: "bad-route" | "duplicate-route" | "reserved-path", complaint: string): Fault[] => [
    faultAt(draft, ["job", "status_route"], code, complaint),
  ];
  const { method, path } = parseRoute(job.status_route);
  if (method !== "GET" || parametersOf(path).join() !== "job_id")
    return fail("bad-route", 'must be a GET route with the one parameter {job_id}, such as "GET /v1/search/{job_id}"');
  if (isReserved(path)) return fail("reserved-path", "payphone answers such a path itself");
  const isOwn = [route, ...aliases].some((text) => text === `GET ${path}`);
  if (isOwn) return fail("duplicate-route", "the service could not be called there, where a GET asks for a job");
  const met = all.find((other) => pathsOf(other).some((taken) => taken !== path && overlaps(taken, path)));
  const twin = all.find((other) => other !== draft && pathsOf(other).includes(path));
  if (met ?? twin) return fail("duplicate-route", `a request for it could also be meant for ${(met ?? twin)?.file}`);
  if (id === undefined || !all.some(({ data }) => data.id === toStatusId(id))) return [];
  const complaint = `its status service would be called "${toStatusId(id)}", as another service is`;
  return [faultAt(draft, ["id"], "duplicate-id", complaint)];
}

const pathsOf = ({ data: { route, job } }: Draft): string[] =>
  [route, job?.status_route].flatMap((text) => (text === undefined ? [] : parseRoute(text).path));
