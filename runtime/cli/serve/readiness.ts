import type { FacilitatorTrust } from "../../core/payments/trust.ts";
import type { Payments } from "../../core/payments.ts";
import type { Service } from "../../core/service.ts";
import type { Rail } from "../../core/x402/rails.ts";
import type { OpenStore } from "../../drivers/store/keyv.ts";
import type { ReadyReport } from "../../server/routes/status.ts";
import type { AddressWatch } from "./address-watch.ts";
import type { Sources } from "./sources.ts";

export interface ReadinessDeps {
  readonly services: readonly Service[];
  readonly payments: Payments;
  readonly configured: readonly Rail[];
  readonly store: OpenStore;
  readonly sources: Pick<Sources, "upstreams" | "mcpServers" | "explain">;
  readonly addressWatch: Pick<AddressWatch, "warnings">;
  readonly trust: Pick<FacilitatorTrust, "distrusted">;
  /** Further warnings. */
  readonly notes: readonly string[];
}

/**
 * The state of the store and of each rail, upstream, MCP server and service. A service is up when it is free or payable on
 * at least one rail, and everything that it requires is configured.
 */
export async function toReadiness({
  services,
  payments,
  configured,
  store,
  sources,
  addressWatch,
  trust,
  notes,
}: ReadinessDeps): Promise<ReadyReport> {
  const outage = await store.ping().then(
    () => undefined,
    (error: Error) => error.message,
  );
  const statuses = payments.rails.statuses();
  const rails = configured.map(({ manifest: { id, network } }) => {
    const status = statuses.get(id);
    const reason = status?.state === "down" ? { reason: status.reason } : {};
    return { id, network, state: status?.state ?? "down", ...reason };
  });
  const servers = [...sources.mcpServers.values()].map(({ id, outage }) => toPart(id, outage()));
  const upstreams = [...[...sources.upstreams.values()].map(({ id, status }) => ({ id, ...status() })), ...servers];
  const all = services.map((service) => {
    const { id, price } = service.manifest;
    const isPayable = price === undefined || payments.offers.of(service).length > 0;
    const reason = isPayable
      ? (sources.explain(service.manifest) ?? payments.trials.reasonAgainst(id))
      : "No rail that it is sold on is up";
    return toPart(id, reason);
  });
  const losses = await Promise.all(configured.map(({ facilitator }) => facilitator.warnings?.().catch(() => []) ?? []));
  const own = [...notes, ...store.warnings(), ...addressWatch.warnings(), ...payments.stalls.warnings()];
  const warnings = [...own, ...new Set(losses.flat())];
  const distrusted = trust.distrusted().map((one) => ({ ...one, since: new Date(one.since).toISOString() }));
  const isDegraded = [...rails, ...upstreams, ...all].some(({ state }) => state === "down");
  const hasRail = rails.length === 0 || rails.some(({ state }) => state !== "down"); // A shop of free services needs none.
  return {
    status: outage !== undefined || !hasRail ? "unavailable" : isDegraded ? "degraded" : "ready",
    store: outage === undefined ? "up" : "down",
    ...(outage !== undefined && { store_reason: outage }),
    rails,
    upstreams,
    services: all,
    ...(distrusted.length > 0 && { distrusted }),
    ...(warnings.length > 0 && { warnings }),
  };
}

const toPart = (id: string, reason: string | undefined): ReadyReport["services"][number] =>
  reason === undefined ? { id, state: "up" } : { id, state: "down", reason };
