import type { Evidence, GraphNode, Screened } from "../evidence.ts";

/** A rule's result. */
export interface RuleFinding {
  readonly points: number;
  /** In a sentence. */
  readonly finding: string;
}

/** A row of the table in README.md. */
interface Rule {
  readonly code: string;
  weigh(evidence: Evidence): readonly RuleFinding[];
}

const DAY_SECONDS = 86_400;

/** All rules. More evidence against the subject never gives fewer points. */
export const RULES: readonly Rule[] = [
  {
    code: "sanctioned",
    weigh: ({ screened }) => (screened?.sanctions_match ? [toFinding(100, "OFAC's SDN list names this address.")] : []),
  },
  {
    code: "bad_reputation",
    weigh({ screened }) {
      const flags = screened?.signals.filter(({ source }) => source === "goplus") ?? [];
      if (!screened || flags.length === 0 || screened.sanctions_match) return [];
      return [toFinding(screened.risk_score, flags.map(({ detail }) => detail).join(" "))];
    },
  },
  {
    code: "not_screened",
    weigh({ screened }) {
      const isUncertain = !screened || (screened.signals.length === 0 && screened.risk_score > 0);
      return isUncertain ? [toFinding(30, "The present sanctions list could not be searched for this address.")] : [];
    },
  },
  {
    code: "linked_sanctioned",
    weigh: ({ identity: { links } }) =>
      perEach(
        links.filter((link) => link.reason === "ens-record" && isListed(link)),
        { each: 80, most: 80 },
        [
          "other address that its ENS name gives is sanctioned",
          "other addresses that its ENS name gives are sanctioned",
        ],
      ),
  },
  {
    code: "deals_with_sanctioned",
    weigh: (evidence) =>
      perEach(
        listed(evidence, 1).filter((node) => !isDust(node, evidence)),
        { first: 60, each: 10, most: 90 },
        ["direct counterparty is on OFAC's SDN list", "direct counterparties are on OFAC's SDN list"],
      ),
  },
  {
    code: "dusted_by_sanctioned",
    weigh: (evidence) =>
      perEach(
        listed(evidence, 1).filter((node) => isDust(node, evidence)),
        { each: 5, most: 10 },
        [`sanctioned address sent it ${DUST}`, `sanctioned addresses sent it ${DUST}`],
      ),
  },
  {
    code: "near_sanctioned",
    weigh: (evidence) =>
      perEach(
        listed(evidence, 2).filter((node) => !isDust(node, evidence)),
        { each: 15, most: 45 },
        ["sanctioned address is two hops away", "sanctioned addresses are two hops away"],
      ),
  },
  {
    code: "mixer_contact",
    weigh: ({ graph }) =>
      perEach(
        atHop(graph.nodes, 1).filter(({ screened }) => hasSignal(screened, "mixer")),
        { first: 30, each: 5, most: 45 },
        ["direct counterparty is linked to a coin mixer", "direct counterparties are linked to a coin mixer"],
      ),
  },
  {
    code: "bad_counterparties",
    weigh: ({ graph }) =>
      perEach(atHop(graph.nodes, 1).filter(isBad), { each: 15, most: 45 }, [
        "direct counterparty has a bad reputation",
        "direct counterparties have a bad reputation",
      ]),
  },
  {
    code: "bad_neighbourhood",
    weigh: ({ graph }) =>
      perEach(atHop(graph.nodes, 2).filter(isBad), { each: 5, most: 15 }, [
        "address two hops away has a bad reputation",
        "addresses two hops away have a bad reputation",
      ]),
  },
  {
    code: "young",
    weigh({ activity, investigatedAt }) {
      const { firstSeenAt = null } = activity ?? {};
      if (firstSeenAt === null) return [];
      const days = Math.max(0, Math.floor((investigatedAt - firstSeenAt) / DAY_SECONDS));
      if (days >= 30) return [];
      return [toFinding(days < 7 ? 15 : 8, `The address is ${days} days old.`)];
    },
  },
  {
    code: "unused",
    weigh: ({ activity }) =>
      activity?.has_history === false ? [toFinding(5, "The address has never sent anything.")] : [],
  },
  {
    code: "fan_out",
    weigh({ movements }) {
      const recipients = movements?.recipients ?? 0;
      const points = recipients >= 500 ? 15 : 10;
      return recipients >= 100 ? [toFinding(points, `It has paid ${recipients} different addresses.`)] : [];
    },
  },
  {
    code: "pass_through",
    weigh: ({ movements }) => (passesThrough(movements) ? [toFinding(10, PASS_THROUGH)] : []),
  },
];

const DUST = "no more than a fraction of a dollar, which nobody can refuse";
const PASS_THROUGH = "Nearly all USDC that it received, at least 1000, has left again for other addresses.";

const toFinding = (points: number, finding: string): RuleFinding => ({ points, finding });

/** Points for the first item (default: `each`), for each further one, and at most. */
function perEach(
  found: readonly unknown[],
  { first, each, most }: { readonly first?: number; readonly each: number; readonly most: number },
  [one, many]: readonly [one: string, many: string],
): RuleFinding[] {
  if (found.length === 0) return [];
  const points = Math.min(most, (first ?? each) + each * (found.length - 1));
  return [toFinding(points, `${found.length} ${found.length === 1 ? one : many}.`)];
}

const atHop = (nodes: readonly GraphNode[], hop: GraphNode["hop"]): GraphNode[] =>
  nodes.filter((node) => node.hop === hop);

const isListed = ({ screened }: { readonly screened: Screened | null }): boolean => screened?.sanctions_match === true;

const hasSignal = (screened: Screened | null, code: string): boolean =>
  screened?.signals.some((signal) => signal.code === code) === true;

/** A bad reputation; sanctioned (critical) and merely suspected (medium) addresses have rules of their own or none. */
const isBad = ({ screened }: GraphNode): boolean => screened?.risk_level === "high";

const listed = ({ graph }: Evidence, hop: GraphNode["hop"]): GraphNode[] => atHop(graph.nodes, hop).filter(isListed);

/** True when a node's only transfers towards the subject are tiny amounts that it sent: anybody can send dust to anybody. */
function isDust({ address, hop }: GraphNode, { graph }: Evidence): boolean {
  const nearer = new Set(graph.nodes.filter((node) => node.hop < hop).map((node) => node.address));
  const isSent = graph.flows.some(({ from, to }) => to === address && nearer.has(from));
  const received = graph.flows.filter(({ from, to }) => from === address && nearer.has(to));
  return !isSent && received.every(({ amount, asset }) => isBelow(amount, asset === "USDC" ? 0 : 3));
}

/** Whether an amount is below 10 to the power of minus `places`. */
function isBelow(amount: string, places: number): boolean {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole) === 0n && /^0*$/.test(fraction.slice(0, places).padEnd(places, "0"));
}

function passesThrough(movements: Evidence["movements"]): boolean {
  const usdc = movements?.volumes.find(({ asset }) => asset === "USDC");
  if (!usdc) return false;
  const [received, sent] = [wholeUnits(usdc.received), wholeUnits(usdc.sent)];
  return received >= 1000n && sent * 10n >= received * 9n;
}

const wholeUnits = (amount: string): bigint => BigInt(amount.split(".")[0] ?? "0");
