import RateLimiterRedis from "rate-limiter-flexible/lib/RateLimiterRedis.js";
import type { CreateLimiter } from "../../core/limiter.ts";
import { createMemoryLimiter } from "../memory-limiter.ts";

/** The part of the client of the package `redis` that limiters use. */
export interface LimiterClient {
  readonly isReady: boolean;
  eval(script: string, input: { readonly keys: string[]; readonly arguments: string[] }): Promise<unknown>;
}

/**
 * Limiters that all processes on one Redis share. While Redis is unreachable, each process counts for itself. A key
 * that has spent twice its budget is refused from memory, so that a flood does not reach Redis.
 */
export const createRedisLimiters =
  (client: LimiterClient, namespace: string): CreateLimiter =>
  ({ budget, points, seconds }) => {
    const duration = Math.max(1, Math.ceil(seconds)); // Redis counts whole seconds, and 0 would mean no expiry.
    const blocked = 2 * points;
    return new RateLimiterRedis({
      storeClient: client,
      useRedisPackage: true,
      rejectIfRedisNotReady: true,
      keyPrefix: `${namespace}-limit:${budget}`,
      points,
      duration,
      inMemoryBlockOnConsumed: blocked,
      insuranceLimiter: createMemoryLimiter({ budget, points, seconds: duration }) as never, // Of this package.
    });
  };
