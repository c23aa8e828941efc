import { isObject } from "../../core/json.ts";

/** One entry of a registry, as `schemas/Registry.json` describes it. */
export interface RegistryService {
  readonly id: string;
  readonly label: string;
  readonly category: "x402" | "other_transfer";
  /** Where the recipients were published, and on which date, as in `2026-11-22`. */
  readonly source?: string;
  readonly as_of?: string;
  /** In lower case, sorted. */
  readonly recipients: readonly string[];
}

const NETWORKS: ReadonlySet<unknown> = new Set(["base", "eip155:8453"]);
const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const ADDRESS = /^0x[0-9a-f]{40}$/;
const LONGEST = 200;
/** How many hosts the label of a shared address names. */
const MOST_HOSTS = 3;

/**
 * The services that are paid USDC on Base, among the resources that a facilitator lists (x402 versions 1 and 2). A
 * service is a host, since names that sellers give themselves prove nothing. An address shared by several hosts is a
 * service of its own, labelled with their names. Resources without host or address are skipped.
 */
export function toServices(resources: readonly unknown[]): RegistryService[] {
  const hosts = new Map<string, Set<string>>();
  for (const resource of resources) {
    const host = hostOf(resource);
    if (host === undefined) continue;
    for (const recipient of recipientsOf(resource)) hosts.set(recipient, (hosts.get(recipient) ?? new Set()).add(host));
  }
  const owners = [...hosts].map(([recipient, names]) => ({ recipient, names: [...names].sort() }));
  const groups = Map.groupBy(owners, ({ recipient, names }) => (names.length === 1 ? (names[0] ?? "") : recipient));
  return [...groups].map(([id, members]) => ({
    id,
    label: toLabel(members[0]?.names ?? []),
    category: "x402",
    recipients: members.map(({ recipient }) => recipient),
  }));
}

/** Sorts services by id and gives each recipient to the last service that names it. @param services in ascending precedence. */
export function toSorted(services: readonly RegistryService[]): RegistryService[] {
  const owners = new Map(services.flatMap((service) => service.recipients.map((recipient) => [recipient, service])));
  const recipients = Map.groupBy(owners.keys(), (recipient) => owners.get(recipient)?.id ?? "");
  const byId = new Map(services.map((service) => [service.id, service]));
  return [...recipients.keys()].sort().map((id) => {
    const service = byId.get(id) as RegistryService; // Every owner is one of the services.
    return { ...service, recipients: (recipients.get(id) ?? []).toSorted() };
  });
}

function hostOf(resource: unknown): string | undefined {
  const { resource: named, url: other } = isObject(resource) ? resource : {};
  const url = named ?? other;
  const host = typeof url === "string" ? URL.parse(url)?.host : undefined;
  return host && host.length <= LONGEST ? host : undefined;
}

function recipientsOf(resource: unknown): string[] {
  const accepts = isObject(resource) && Array.isArray(resource.accepts) ? resource.accepts : [];
  return accepts
    .filter(isObject)
    .filter(({ network, asset }) => NETWORKS.has(network) && inLowerCase(asset) === USDC)
    .map(({ payTo }) => inLowerCase(payTo))
    .filter((address) => ADDRESS.test(address));
}

const inLowerCase = (text: unknown): string => (typeof text === "string" ? text.toLowerCase() : "");

function toLabel(hosts: readonly string[]): string {
  const more = hosts.length > MOST_HOSTS ? ` and ${hosts.length - MOST_HOSTS} more` : "";
  return (
    hosts
      .slice(0, MOST_HOSTS)
      .join(", ")
      .slice(0, LONGEST - more.length) + more
  );
}
