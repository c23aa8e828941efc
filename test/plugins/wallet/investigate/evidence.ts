import fc from "fast-check";
import type { Evidence, GraphNode, Movements, Screened } from "../../../../plugins/wallet/investigate/evidence.ts";
import type { Flow } from "../../../../plugins/wallet/investigate/flows.ts";
import { FLAGS } from "../../../../plugins/wallet/screen/flags.ts";
import type { ScreenResponse } from "../../../../plugins/wallet/screen/response.ts";
import { toRisk } from "../../../../plugins/wallet/screen/risk.ts";
import { CODE_POINTS } from "../../../support/code-points.ts";

/** Whom the evidence is about. */
export const SUBJECT = `0x${"5".repeat(40)}`;

/** A screening with these signals. */
export function toScreened(codes: readonly string[], isListed = false): Screened {
  const signals = [
    ...(isListed
      ? [{ code: "ofac_sdn", severity: "critical", source: "treasury.gov", detail: "listed" } as const]
      : []),
    ...codes.map((code) => ({ code, ...FLAGS[code as keyof typeof FLAGS], source: "goplus", detail: code }) as const),
  ];
  return {
    ...toRisk(
      signals.map(({ severity }) => severity),
      false,
    ),
    sanctions_match: isListed,
    labels: [...codes],
    signals,
    partial: false,
    corpus_version: "test",
  };
}

/** A node that paid the subject, or whom the subject's neighbour paid. */
export const toFlow = (from: string, to: string, amount = "100"): Flow => ({
  from,
  to,
  amount,
  largest: amount,
  asset: "USDC",
  count: 1,
  firstAt: 1,
  lastAt: 1,
});

/** A screening of the subject, with the fields that no rule reads. */
export const toResponse = (screened: Screened): ScreenResponse =>
  ({ ...screened, notes: "Nothing.", address_type: "eoa" }) as ScreenResponse;

/** Sums of USDC that the subject received and sent. */
export const toMovements = (received: string, sent: string, changes: Partial<Movements> = {}): Movements => ({
  volumes: [{ asset: "USDC", received, sent, receivedCount: 1, sentCount: 1 }],
  senders: 1,
  recipients: 1,
  firstAt: 1,
  lastAt: 2,
  isWhole: true,
  largest: [],
  ...changes,
});

/** Evidence of nothing, with changes. */
export const toEvidence = (changes: Partial<Evidence> = {}): Evidence => ({
  subject: { family: "evm", address: SUBJECT },
  investigatedAt: 1_800_000_000,
  screened: toResponse(toScreened([])),
  balances: { base_eth: "1", eth_eth: "0", base_usdc: "20", sol: null, solana_usdc: null },
  activity: { base_tx_count: 5, has_history: true, firstSeenAt: 1_600_000_000, seenSince: 1_600_000_000 },
  identity: { ensName: null, snsName: null, labels: [], funding: null, links: [] },
  movements: toMovements("1000", "0"),
  graph: toGraph([]),
  coverage: [],
  missing: [],
  ...changes,
});

/** The subject with others around it: those of the first hop paid it, those of the second were paid by one of these. */
export function toGraph(others: readonly GraphNode[]): Evidence["graph"] {
  const subject: GraphNode = {
    address: SUBJECT,
    hop: 0,
    contacts: others.length,
    label: null,
    screened: toScreened([]),
  };
  const first = others.filter(({ hop }) => hop === 1);
  const flows = others.map(({ address, hop }) => toFlow(address, hop === 1 ? SUBJECT : (first[0]?.address ?? SUBJECT)));
  return { nodes: [subject, ...others], flows, counterparties: first.length };
}

const screenings = fc.oneof(
  fc.constant(null),
  fc
    .record({ codes: fc.uniqueArray(fc.constantFrom(...Object.keys(FLAGS)), { maxLength: 4 }), isListed: fc.boolean() })
    .map(({ codes, isListed }) => toScreened(codes, isListed)),
);

/** Any address but the subject. */
export const nodes: fc.Arbitrary<GraphNode> = fc.record({
  address: fc.bigInt({ min: 1n, max: 2n ** 159n }).map((value) => `0x${value.toString(16).padStart(40, "0")}`),
  hop: fc.constantFrom(1 as const, 2 as const),
  contacts: fc.option(fc.nat(100)),
  label: fc.oneof(fc.constant(null), fc.string({ unit: CODE_POINTS, maxLength: 60 })),
  screened: screenings,
});

/** Evidence of all kinds. */
export const evidences: fc.Arbitrary<Evidence> = fc
  .record({
    screened: screenings.filter((screened) => screened !== null).map(toResponse),
    firstSeenAt: fc.option(fc.integer({ min: 1_500_000_000, max: 1_800_000_000 })),
    others: fc.uniqueArray(nodes, { maxLength: 12, selector: ({ address }) => address }),
    recipients: fc.nat(1000),
    amounts: fc.tuple(fc.nat(1_000_000), fc.nat(1_000_000)),
  })
  .map(({ screened, firstSeenAt, others, recipients, amounts: [received, sent] }) =>
    toEvidence({
      screened,
      activity: { base_tx_count: null, has_history: null, firstSeenAt, seenSince: firstSeenAt },
      graph: toGraph(others),
      movements: toMovements(String(received), String(sent), { recipients }),
    }),
  );
