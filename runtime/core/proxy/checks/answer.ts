import type { Schemas } from "../../schema/subschemas.ts";
import { didYouMean } from "../../set/did-you-mean.ts";
import type { Draft } from "../../set/draft.ts";
import { type Fault, faultAt, faultAtKey } from "../../set/faults.ts";
import type { ProxyManifest } from "../../set/manifest.ts";
import { readCondition } from "../condition.ts";
import { type Fields, readFields } from "../fields.ts";
import { isMedia } from "../media.ts";
import { explainPointer } from "../pointer.ts";

/** Checks how a manifest reads an upstream's answer. */
export function checkAnswer(draft: Draft, proxy: ProxyManifest, schemas: Schemas): Fault[] {
  const isFile = isMedia(draft.data.output);
  const output = isFile ? undefined : readFields(draft, "output", schemas);
  return [
    ...checkCharges(draft, proxy),
    ...(isFile ? checkFile(draft, proxy) : checkParts(draft, proxy, output)),
    ...checkCache(draft, proxy, output),
  ];
}

/** Statuses that must not be charged: failures, refusals and redirects. */
const NEVER: readonly number[] = [401, 402, 403, 407, 408, 425, 429];

const checkCharges = (draft: Draft, { charge_on = [] }: ProxyManifest): Fault[] =>
  charge_on.flatMap((status, at) =>
    (status >= 300 && status < 400) || NEVER.includes(status)
      ? [faultAt(draft, ["proxy", "charge_on", at], "bad-proxy", `status ${status} is a failure, and never charged`)]
      : [],
  );

const checkFile = (draft: Draft, { answer = {} }: ProxyManifest): Fault[] =>
  Object.keys(answer).map((key) => {
    const complaint =
      key === "max_bytes" ? "the bounds of a file belong under output" : "a file is taken whole: leave it out";
    return faultAtKey(draft, ["proxy", "answer", key], "bad-proxy", complaint);
  });

function checkParts(draft: Draft, { answer = {} }: ProxyManifest, output: Fields | undefined): Fault[] {
  const { pick, rename = {}, wrap, failed, error } = answer;
  const faults: Fault[] = [];
  const isGiven = (name: string): boolean => !output || output.areOpen || output.names.includes(name);
  const unknown = (name: string): string => `the output has no field "${name}"${didYouMean(name, output?.names ?? [])}`;
  const fault = pick === undefined ? undefined : explainPointer(pick);
  if (fault) faults.push(faultAt(draft, ["proxy", "answer", "pick"], "bad-pointer", fault));
  const condition = failed === undefined ? undefined : readCondition(failed);
  if (typeof condition === "string")
    faults.push(faultAt(draft, ["proxy", "answer", "failed"], "bad-condition", condition));
  const place = error === undefined ? undefined : explainPointer(error);
  if (place) faults.push(faultAt(draft, ["proxy", "answer", "error"], "bad-pointer", place));
  if (error !== undefined && failed === undefined)
    faults.push(faultAtKey(draft, ["proxy", "answer", "error"], "bad-proxy", "say under failed when there is one"));
  if (wrap !== undefined && !isGiven(wrap))
    faults.push(faultAt(draft, ["proxy", "answer", "wrap"], "bad-proxy", unknown(wrap)));
  const names = Object.values(rename);
  for (const [old, name] of Object.entries(rename)) {
    const place = ["proxy", "answer", "rename", old];
    if (names.indexOf(name) !== names.lastIndexOf(name))
      faults.push(faultAt(draft, place, "bad-proxy", "two fields get this name"));
    else if (wrap === undefined && !isGiven(name)) faults.push(faultAt(draft, place, "bad-proxy", unknown(name)));
  }
  return faults;
}

/** Methods that change something, whatever the hints say. */
const CHANGING = /^(?:PUT|PATCH|DELETE) /;

function checkCache(draft: Draft, proxy: ProxyManifest, output: Fields | undefined): Fault[] {
  const { cache, poll, mcp, request = "" } = proxy;
  if (!cache || mcp !== undefined) return [];
  const fail = (complaint: string): Fault[] => [faultAtKey(draft, ["proxy", "cache"], "bad-cache", complaint)];
  if (poll || draft.data.job) return fail("each job is done anew: leave it out");
  if (draft.data.hints?.readOnly === false || CHANGING.test(request))
    return fail("what changes something is done anew each time: leave it out");
  if (!output) return [];
  const types = output.find("age_seconds")?.types;
  const takesNumbers = types?.length === 0 || types?.some((type) => type === "integer" || type === "number");
  return takesNumbers
    ? []
    : fail('an answer from the cache says its age: give the output a field "age_seconds", a whole number');
}
