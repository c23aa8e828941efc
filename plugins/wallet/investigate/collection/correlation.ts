import PQueue from "p-queue";
import type { NameRegistry } from "../../names/registry.ts";
import { ENS_RECORDS, type Link, type Missing } from "../evidence.ts";
import type { Transfer } from "../sources/transfers.ts";
import type { Subject } from "../subject.ts";
import type { Neighbourhood } from "./graph.ts";

/** Names and linked addresses. */
export interface Correlation {
  /** The primary names of direct counterparties, by address. */
  readonly names: Readonly<Record<string, string>>;
  readonly links: readonly Omit<Link, "screened">[];
  readonly missing: readonly Missing[];
}

export interface CorrelationInput {
  readonly subject: Subject;
  readonly ensName: string | null;
  readonly funding: Transfer | null;
  readonly neighbourhood: Neighbourhood;
}

export type Registries = Readonly<Record<"ENS" | "SNS", NameRegistry>>;

const AT_ONCE = 4;
/** A first funder of this many counterparties is an exchange or a faucet, and does not show a common owner. */
const HUB = 5;

/** Looks up the counterparties' names and the subject's other addresses. Failures are listed as missing. @throws only the signal's reason. */
export async function correlate(
  known: CorrelationInput,
  registries: Registries,
  signal: AbortSignal,
): Promise<Correlation> {
  const [named, linked] = await Promise.all([
    readNames(known, registries, signal),
    readRecord(known, registries.ENS, signal),
  ]);
  signal.throwIfAborted();
  return {
    names: named.names,
    links: [...linked.links, ...findFundedAlike(known)],
    missing: [...named.missing, ...linked.missing],
  };
}

async function readNames({ subject, neighbourhood }: CorrelationInput, registries: Registries, signal: AbortSignal) {
  const registry = subject.family === "evm" ? registries.ENS : registries.SNS;
  const addresses = neighbourhood.members.filter(({ hop }) => hop === 1).map(({ address }) => address);
  const queue = new PQueue({ concurrency: AT_ONCE });
  const names = await queue.addAll(
    addresses.map((address) => () => registry.primaryName(address, signal).catch(() => undefined)),
  );
  const failures = names.filter((name) => name === undefined).length;
  const message = `${failures} of ${addresses.length} names could not be looked up`;
  return {
    names: Object.fromEntries(addresses.flatMap((address, at) => (names[at] ? [[address, names[at]]] : []))),
    missing: failures > 0 ? [{ source: "names of counterparties", message, atStake: 0 }] : [],
  };
}

/** Listed as missing, because one of the name's other addresses may be sanctioned. */
const UNREAD: Missing = {
  source: ENS_RECORDS,
  message: "The name's other addresses could not be read",
  atStake: 80,
};

/** The other addresses in the records of the subject's ENS name. */
async function readRecord({ subject, ensName }: CorrelationInput, ens: NameRegistry, signal: AbortSignal) {
  if (ensName === null) return { links: [], missing: [] };
  try {
    const { addresses, isPartial } = await ens.resolve(ensName, signal);
    const others = addresses.filter(({ address }) => address.toLowerCase() !== subject.address.toLowerCase());
    const links = others.map(({ address }) => ({ address, reason: "ens-record" as const }));
    return { links, missing: isPartial ? [UNREAD] : [] };
  } catch {
    return { links: [], missing: [UNREAD] };
  }
}

function findFundedAlike({ funding, neighbourhood }: CorrelationInput): Correlation["links"] {
  const alike = neighbourhood.funding.filter(({ from, to }) => from === funding?.from && to !== funding.to);
  if (alike.length >= HUB) return [];
  return alike.map(({ to }) => ({ address: to, reason: "shared-funding" as const }));
}
