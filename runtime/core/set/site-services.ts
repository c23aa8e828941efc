import { toAccount } from "../account.ts";
import { isObject } from "../json.ts";
import { toIssueText } from "../schema/issues.ts";
import { type Schemas, toRootSchema } from "../schema/subschemas.ts";
import type { Compile } from "../schema/validator.ts";
import { toCompiled } from "./compiled-set.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { Draft, SiteDraft } from "./draft.ts";
import { type Fault, faultAt } from "./faults.ts";
import { isEvm } from "./manifest.ts";
import { toAtomic } from "./price.ts";

/** Checks a site's refunds: the rail, and the service that screens recipients. */
export function checkRefunds(site: SiteDraft, manifests: readonly Draft[], schemas: Schemas): Fault[] {
  const { refunds, rails = [] } = site.data;
  const isNeeded = manifests.some(({ data }) => data.job?.refund || data.charge === "first");
  if (!refunds || !isNeeded) return []; // Without `refunds`, the operator refunds by hand.
  const fail = (key: "rail" | "screen", complaint: string): Fault[] => [
    faultAt(site, ["refunds", key], "bad-refunds", complaint),
  ];
  const rail = rails.find(({ id }) => id === refunds.rail);
  const service = manifests.find(({ data }) => data.id === refunds.screen)?.data;
  const names = { rails: rails.map(({ id }) => id), services: manifests.flatMap(({ data }) => data.id ?? []) };
  const canScreen = takesWallets(service, schemas) && isFlag(fieldsOf(service?.output, schemas)?.sanctions_match);
  return [
    ...(rail ? [] : fail("rail", `there is no such rail${didYouMean(refunds.rail, names.rails)}`)),
    ...(rail && !isEvm(rail)
      ? fail("rail", "must be an EVM rail: its token takes each refund once and never again")
      : []),
    ...(service ? [] : fail("screen", `there is no such service${didYouMean(refunds.screen, names.services)}`)),
    ...(service && !canScreen
      ? fail("screen", "the service must take `wallet` alone and answer `sanctions_match`, true or false, at once")
      : []),
  ];
}

/** Checks a site's house rules: `deny` against `allow`, the dollars of a day, and the service that screens wallets. */
export function checkRules(site: SiteDraft, manifests: readonly Draft[], schemas: Schemas): Fault[] {
  const { deny = [], allow = [], screen } = site.data;
  const allowed = new Set(allow.map(toAccount));
  const torn = [
    ...deny.flatMap((account, at) =>
      allowed.has(toAccount(account)) ? [faultAt(site, ["deny", at], "bad-rules", "`allow` lists it, too")] : [],
    ),
    ...checkSpending(site, manifests),
  ];
  if (!screen) return torn;
  const fail = (path: (string | number)[], complaint: string): Fault =>
    faultAt(site, ["screen", ...path], "bad-rules", complaint);
  const service = manifests.find(({ data }) => data.id === screen.service)?.data;
  if (!service) {
    const names = manifests.flatMap(({ data }) => data.id ?? []);
    return [...torn, fail(["service"], `there is no such service${didYouMean(screen.service, names)}`)];
  }
  const output = fieldsOf(service.output, schemas);
  return [
    ...torn,
    ...(takesWallets(service, schemas)
      ? []
      : [fail(["service"], "the service must take `wallet` alone and answer at once")]),
    ...screen.refuse.flatMap((field, at) =>
      isFlag(output?.[field])
        ? []
        : [
            fail(
              ["refuse", at],
              `must be a field of its answer that is true or false${didYouMean(field, flagsOf(output))}`,
            ),
          ],
    ),
  ];
}

/** Checks that the service under `screen` takes the wallets of each rail: nobody else could pay there. */
export function checkScreened(site: SiteDraft, manifests: readonly Draft[], compile: Compile): Fault[] {
  const { screen, rails = [] } = site.data;
  const draft = manifests.find(({ data }) => data.id === screen?.service);
  const input = draft && toCompiled(draft, compile).input;
  const refused = rails.flatMap((rail) => {
    const { issues = [] } = input?.check({ wallet: isEvm(rail) ? EVM_WALLET : SOLANA_WALLET }, "body", "input") ?? {};
    const ofWallet = issues.filter(({ loc }) => loc.includes("wallet"));
    return ofWallet.length === 0 ? [] : [`the wallets of ${rail.id}: ${toIssueText(ofWallet)}`];
  });
  if (refused.length === 0) return [];
  return [faultAt(site, ["screen", "service"], "bad-rules", `the service must take ${refused.join(", and ")}`)];
}

/** Examples of buyers' wallets. */
const EVM_WALLET = "0x7ab4e3c19f2d5a86b0c4e1d83f9a6752c1b0e8d4";
const SOLANA_WALLET = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";

/** Finds services that cost more than a wallet may spend in a day: nobody could ever buy them. */
function checkSpending(site: SiteDraft, manifests: readonly Draft[]): Fault[] {
  const { usd_per_day: most } = site.data.limits?.per_payer ?? {};
  if (most === undefined) return [];
  const dear = manifests.flatMap(({ data: { id, price } }) =>
    id !== undefined && price !== undefined && toAtomic(price, 18) > toAtomic(most, 18) ? [`${id} costs ${price}`] : [],
  );
  if (dear.length === 0) return [];
  const complaint = `no wallet may spend enough for all services: ${dear.join(", ")}`;
  return [faultAt(site, ["limits", "per_payer", "usd_per_day"], "bad-rules", complaint)];
}

/** Whether a service is no job and needs no input but `wallet`. */
function takesWallets(service: Draft["data"] | undefined, schemas: Schemas): boolean {
  const { input, job } = service ?? {};
  const { required = [] } = toRootSchema(input, schemas) ?? {};
  const needsMore = Array.isArray(required) && required.some((field) => field !== "wallet");
  return !job && !needsMore && fieldsOf(input, schemas)?.wallet !== undefined;
}

function fieldsOf(schema: string | object | undefined, schemas: Schemas): Record<string, unknown> | undefined {
  const root = toRootSchema(schema, schemas);
  return root && isObject(root.properties) ? root.properties : undefined;
}

const isFlag = (field: unknown): boolean => isObject(field) && field.type === "boolean";

const flagsOf = (fields: Record<string, unknown> = {}): string[] =>
  Object.keys(fields).filter((name) => isFlag(fields[name]));
