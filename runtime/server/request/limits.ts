import { Problem } from "../../api/problem.ts";
import { toJobId } from "../../core/jobs/records.ts";
import { type Allowance, type CreateLimiter, type Limiter, secondsUntil } from "../../core/limiter.ts";
import type { StatusOf } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";

/** The budgets of a client address. See runtime/docs/decisions/limits.md. */
export interface Limits {
  /**
   * Spends points of a budget: requests, or bytes of bodies.
   * @throws Problem `rate-limited` when the budget is spent, `unavailable` when the limiter's store cannot be reached.
   */
  take(client: string, budget: BudgetName, points?: number): Promise<void>;
  /** Returns points, for instance those of a call that was paid. Never throws: losing returned points harms nobody. */
  giveBack(client: string, budget: BudgetName, points?: number): void;
  /** The budget `bytes` of an address that has spent nothing. */
  readonly bytesAtOnce: number;
}

/**
 * `unpaid`: requests without a payment. `paying`: requests with a payment, counted apart so that unpaid requests never
 * block a purchase. `free`: documents, OPTIONS and 405. `bytes`: bodies that no settlement has paid for.
 */
export type BudgetName = "unpaid" | "paying" | "free" | "bytes";

/** How often one job may be polled in a minute, by all callers together. */
const POLLS_PER_MINUTE = 120;
/** A directory's crawl reads all documents, and each page of the explorer loads a dozen files. */
const FREE_PER_UNPAID = 10;
/** A body of 64 KB counts as two requests. */
const BYTES_PER_UNPAID = 32_768;
/** Bytes come in portions of a quarter of what the burst of requests may bring, so that they cannot all come at once. */
const PORTIONS = 4;

const IPV4 = /^[\d.]{7,15}$/;
const WITH_PORT = /^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/;
const MAPPED = /^::ffff:(?=\d+\.)/i;
const MAPPED_HEX = /^::ffff:([\da-f]+):([\da-f]+)$/;
const MAX_ADDRESS = 64;

/** The settings from which the budgets are computed. */
export interface LimitTerms extends Pick<SiteManifest["limits"], "unpaid_burst" | "unpaid_per_minute"> {
  /** In bytes. */
  readonly largestBody?: number;
}

/**
 * Budgets of `unpaid_burst` requests at once and `unpaid_per_minute` in the long run; the other budgets are
 * proportional. The budget `bytes` always has room for the largest body.
 */
export function createLimits(
  { unpaid_burst, unpaid_per_minute, largestBody = 0 }: LimitTerms,
  createLimiter: CreateLimiter,
): Limits {
  const seconds = (60 * unpaid_burst) / unpaid_per_minute;
  const allBytes = BYTES_PER_UNPAID * unpaid_burst;
  const bytesAtOnce = Math.max(Math.ceil(allBytes / PORTIONS), largestBody);
  const open = (budget: BudgetName, points = unpaid_burst): Limiter => createLimiter({ budget, points, seconds });
  const limiters: Readonly<Record<BudgetName, Limiter>> = {
    unpaid: open("unpaid"),
    paying: open("paying"),
    free: open("free", FREE_PER_UNPAID * unpaid_burst),
    bytes: createLimiter({ budget: "bytes", points: bytesAtOnce, seconds: seconds * (bytesAtOnce / allBytes) }),
  };
  return {
    bytesAtOnce,
    async take(client, budget, points = 1) {
      await limiters[budget].consume(client, points).catch(refuse(REASONS[budget], { seconds }));
    },
    giveBack(client, budget, points = 1) {
      limiters[budget].reward(client, points).catch(() => undefined);
    },
  };
}

const REASONS: Readonly<Record<BudgetName, string>> = {
  unpaid: "Too many unpaid requests",
  paying: "Too many requests whose payments were refused or used before",
  free: "Too many requests",
  bytes: "Too many bytes or fields in bodies that were not paid for",
};

/** Limits the polls of each job to 120 a minute, for all doors and callers together. */
export function limitPolls(statusOf: StatusOf, createLimiter: CreateLimiter): StatusOf {
  const allowance = { budget: "polls", points: POLLS_PER_MINUTE, seconds: 60 };
  const limiter = createLimiter(allowance);
  return (service, job) => {
    const tell = statusOf(service, job);
    return async (input, call) => {
      await limiter.consume(toJobId(input.job_id)).catch(refuse("This job is asked for too often", allowance));
      return tell(input, call);
    };
  };
}

/**
 * The key of a client address: an IPv4 address, or the /64 of an IPv6 address, since one customer usually owns a /64.
 * IPv4-mapped IPv6 addresses count as IPv4. Brackets and a port, which some proxies add, are dropped, and all ways to
 * write an address are equal.
 */
export function toClientKey(address = "unknown"): string {
  if (IPV4.test(address)) return address;
  const [, ipv6, ipv4] = WITH_PORT.exec(address) ?? [];
  const plain = (ipv6 ?? ipv4 ?? address).replace(MAPPED, "").replace(/%.*$/, "").slice(0, MAX_ADDRESS);
  if (!plain.includes(":")) return plain;
  const short = URL.parse(`http://[${plain}]`)?.hostname.slice(1, -1) ?? plain;
  const [, high, low] = MAPPED_HEX.exec(short) ?? [];
  if (high !== undefined && low !== undefined) return [high, low].map(toDotted).join(".");
  const [head = [], tail = []] = short.split("::").map((side) => side.split(":").filter(Boolean));
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(":")}::/64`;
}

/** Half of an IPv4 address, of 16 bits in hex. */
function toDotted(half: string): string {
  const bits = Number.parseInt(half, 16);
  return `${bits >> 8}.${bits & 255}`;
}

const refuse =
  (why: string, allowance: Pick<Allowance, "seconds">) =>
  (refusal: unknown): never => {
    const retryAfter = secondsUntil(refusal, allowance);
    throw new Problem("rate-limited", `${why}; try again in ${retryAfter} s`, { retryAfter });
  };
