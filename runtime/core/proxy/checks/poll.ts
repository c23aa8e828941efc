import type { Path } from "../../schema/nodes.ts";
import type { Draft } from "../../set/draft.ts";
import { type Fault, faultAt, faultAtKey } from "../../set/faults.ts";
import type { ProxyManifest } from "../../set/manifest.ts";
import { readCondition } from "../condition.ts";
import { toRequestPlan } from "../plan.ts";
import { explainPointer } from "../pointer.ts";
import { explainRequestLine } from "./request.ts";

export function checkPoll(draft: Draft, { poll, request = "" }: ProxyManifest): Fault[] {
  if (!poll) return [];
  const at = (key: string): Path => ["proxy", "poll", key];
  const faults: Fault[] = [];
  const { job } = draft.data;
  if (!job)
    faults.push(
      faultAtKey(draft, ["proxy", "poll"], "bad-proxy", "only jobs wait for a result: say how they run, under job"),
    );
  if (request.includes(" {"))
    faults.push(faultAtKey(draft, ["proxy", "poll"], "bad-proxy", "an address from the input takes no orders"));
  for (const key of ["request", "result"] as const) {
    const line = poll[key];
    const complaint = line === undefined ? undefined : explainPollLine(line);
    if (complaint) faults.push(faultAt(draft, at(key), "bad-request", complaint));
  }
  for (const key of ["done", "failed"] as const) {
    const condition = poll[key] === undefined ? undefined : readCondition(poll[key]);
    if (typeof condition === "string") faults.push(faultAt(draft, at(key), "bad-condition", condition));
  }
  const fault = poll.error === undefined ? undefined : explainPointer(poll.error);
  if (fault) faults.push(faultAt(draft, at("error"), "bad-pointer", fault));
  if (job && poll.seconds !== undefined && poll.seconds >= job.deadline_seconds)
    faults.push(
      faultAt(draft, at("seconds"), "bad-proxy", `must be shorter than the job's deadline of ${job.deadline_seconds}`),
    );
  return faults;
}

function explainPollLine(line: string): string | undefined {
  const complaint = explainRequestLine(line);
  if (complaint) return complaint;
  const { target } = toRequestPlan(line);
  return target.address ? "write a path below the upstream's URL, with parts of the order's answer in it" : undefined;
}
