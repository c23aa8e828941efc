import type { RateLimiterAbstract, RateLimiterRes } from "rate-limiter-flexible";
import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";
import { Problem } from "../../api/problem.ts";
import type { StatusOf } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";

/** Any limiter of rate-limiter-flexible: in memory by default, on a shared store when there are several processes. */
export type Limiter = Pick<RateLimiterAbstract, "consume" | "reward">;

/**
 * The budgets of one client address. Requests that carry a payment have one of their own, so that a client's probes never
 * stop its payments; what was paid and accepted is given back.
 */
export interface Limits {
  /** @throws Problem `rate-limited` when the budget is spent, `unavailable` when the limiter's store cannot be reached. */
  admit(client: string, paying: boolean): Promise<void>;
  /** Gives a request back that turned out to be paid. */
  forgive(client: string, paying: boolean): void;
}

/** How often one job may be asked for in a minute, whoever asks and wherever. */
const POLLS_PER_MINUTE = 120;

const IPV4 = /^[\d.]{7,15}$/;
const WITH_PORT = /^(?:\[(.+)\]|([\d.]+)):\d+$/;
const MAPPED = /^::ffff:(?=\d+\.)/i;
const MAX_ADDRESS = 64;

type UnpaidLimits = Pick<SiteManifest["limits"], "unpaid_burst" | "unpaid_per_minute">;

/** A limiter in memory that allows `unpaid_burst` requests at once and `unpaid_per_minute` in the long run. */
export function createMemoryLimiter({ unpaid_burst, unpaid_per_minute }: UnpaidLimits): Limiter {
  return new RateLimiterMemory({ points: unpaid_burst, duration: (60 * unpaid_burst) / unpaid_per_minute });
}

/** Limits that are kept by a limiter. */
export function createLimits(limiter: Limiter): Limits {
  return {
    async admit(client, paying) {
      await limiter.consume(toBudget(client, paying)).catch(refuse("Too many unpaid requests"));
    },
    forgive(client, paying) {
      limiter.reward(toBudget(client, paying)).catch(() => undefined); // a lost credit is harmless
    },
  };
}

/** What tells how jobs stand, on all doors together 120 times a minute for each job. */
export function limitPolls(statusOf: StatusOf): StatusOf {
  const limiter = new RateLimiterMemory({ points: POLLS_PER_MINUTE, duration: 60 });
  return (service, job) => {
    const tell = statusOf(service, job);
    return async (input, call) => {
      await limiter.consume(input.job_id).catch(refuse("This job is asked for too often"));
      return tell(input, call);
    };
  };
}

/**
 * IPv4 addresses as they are, IPv6 addresses as their /64: one customer has at least that many of them. Some proxies add
 * a port.
 */
export function toClientKey(address = "unknown"): string {
  if (IPV4.test(address)) return address;
  const [, ipv6, ipv4] = WITH_PORT.exec(address) ?? [];
  const plain = (ipv6 ?? ipv4 ?? address).replace(MAPPED, "").replace(/%.*$/, "").slice(0, MAX_ADDRESS);
  if (!plain.includes(":")) return plain;
  const [head = [], tail = []] = plain.split("::").map((side) => side.split(":").filter(Boolean));
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(":")}::/64`;
}

const toBudget = (client: string, paying: boolean): string => `${paying ? "paying" : "unpaid"}:${client}`;

/** The limiter rejects with its counters when a budget is spent, and with an Error when its store fails. */
const refuse =
  (why: string) =>
  (refusal: unknown): never => {
    if (refusal instanceof Error)
      throw new Problem("unavailable", "Requests cannot be counted now", { cause: refusal });
    const retryAfter = Math.max(1, Math.ceil((refusal as RateLimiterRes).msBeforeNext / 1000));
    throw new Problem("rate-limited", `${why}; try again in ${retryAfter} s`, { retryAfter });
  };
