import { setImmediate } from "node:timers/promises";
import type { Plugins } from "#plugin";
import type { Entry } from "./account.ts";
import type { ToChecksum } from "./checksums.ts";
import { toDate, toIso } from "./period.ts";
import type { Grouping } from "./request.ts";
import { sum, toMean, toUsdc } from "./usdc.ts";

/** The sums of a group of transfers (schemas/LedgerGroup.json). */
export type Group = Plugins["ledger"]["summary"]["output"]["groups"][number];

/** After this many groups the event loop gets a turn: the checksums of 25,000 addresses take half a second. */
const GROUPS_AT_ONCE = 500;

/** Days in calendar order, other groups by sum, largest first; ties by label and category. @param entries in chain order. */
export async function toGroups(entries: readonly Entry[], groupBy: Grouping, toChecksum: ToChecksum): Promise<Group[]> {
  const groups = Map.groupBy(entries, (entry) => `${entry.category} ${KEYS[groupBy](entry)}`);
  const sums: Sum[] = [];
  for (const members of groups.values()) {
    const total = sum(members.map(({ amount }) => amount));
    sums.push({ total, group: toGroup(members, total, { groupBy, toChecksum }) });
    if (sums.length % GROUPS_AT_ONCE === 0) await setImmediate();
  }
  return sums.sort((one, other) => compareSums(one, other, groupBy)).map(({ group }) => group);
}

interface Sum {
  readonly total: bigint;
  readonly group: Group;
}

function compareSums(one: Sum, other: Sum, groupBy: Grouping): number {
  return (
    (groupBy === "day" ? 0 : compare(other.total, one.total)) ||
    compare(one.group.label, other.group.label) ||
    compare(other.group.category, one.group.category)
  );
}

const KEYS: Readonly<Record<Grouping, (entry: Entry) => string>> = {
  service: ({ service, category, to }) => service?.id ?? (category === "x402" ? to : ""),
  recipient: ({ to }) => to,
  day: ({ at }) => toDate(at),
};

interface Naming {
  readonly groupBy: Grouping;
  readonly toChecksum: ToChecksum;
}

function toGroup(members: readonly Entry[], total: bigint, { groupBy, toChecksum }: Naming): Group {
  const [first, last] = [members[0] as Entry, members.at(-1) as Entry]; // No group is empty.
  const service = members.every((entry) => entry.service?.id === first.service?.id) ? first.service : undefined;
  const recipient = members.every(({ to }) => to === first.to) ? toChecksum(first.to) : null;
  const isRest = groupBy === "service" && !service && first.category === "other_transfer";
  const name = service?.label ?? (isRest ? first.category : toChecksum(first.to));
  return {
    label: groupBy === "day" ? toDate(first.at) : name,
    recipient,
    service_id: service?.id ?? null,
    category: first.category,
    usdc: toUsdc(total),
    tx_count: members.length,
    avg_call_price: toUsdc(toMean(total, members.length)),
    first_tx: first.tx,
    first_at: toIso(first.at),
    last_tx: last.tx,
    last_at: toIso(last.at),
  };
}

const compare = <T extends bigint | string>(one: T, other: T): number => (one < other ? -1 : Number(one > other));
