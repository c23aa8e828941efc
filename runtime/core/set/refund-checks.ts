import { isObject } from "../json.ts";
import { type Schemas, toRootSchema } from "../schema/subschemas.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { Draft, SiteDraft } from "./draft.ts";
import { type Fault, faultAt } from "./faults.ts";
import { isEvm } from "./manifest.ts";

/** Checks a site's refunds: their rail, and the service that screens recipients. */
export function checkRefunds(site: SiteDraft, manifests: readonly Draft[], schemas: Schemas): Fault[] {
  const { refunds, rails = [] } = site.data;
  const isNeeded = manifests.some(({ data }) => data.job?.refund || data.charge === "first");
  if (!refunds || !isNeeded) return []; // Paid back by hand, if ever.
  const fail = (key: "rail" | "screen", complaint: string): Fault[] => [
    faultAt(site, ["refunds", key], "bad-refunds", complaint),
  ];
  const rail = rails.find(({ id }) => id === refunds.rail);
  const service = manifests.find(({ data }) => data.id === refunds.screen)?.data;
  const names = { rails: rails.map(({ id }) => id), services: manifests.flatMap(({ data }) => data.id ?? []) };
  const [input, output] = [service?.input, service?.output].map((schema) => schema && toRootSchema(schema, schemas));
  const hasField = (schema: typeof input, field: string): boolean =>
    isObject(schema) && isObject(schema.properties) && Object.hasOwn(schema.properties, field);
  const canScreen =
    !service?.job && hasField(input || undefined, "wallet") && hasField(output || undefined, "sanctions_match");
  return [
    ...(rail ? [] : fail("rail", `there is no such rail${didYouMean(refunds.rail, names.rails)}`)),
    ...(rail && !isEvm(rail)
      ? fail("rail", "must be an EVM rail: its token takes each refund once and never again")
      : []),
    ...(service ? [] : fail("screen", `there is no such service${didYouMean(refunds.screen, names.services)}`)),
    ...(service && !canScreen
      ? fail("screen", "the service must take `wallet` and answer `sanctions_match` at once")
      : []),
  ];
}
