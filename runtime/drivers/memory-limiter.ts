import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";
import type { CreateLimiter } from "../core/limiter.ts";
import { LONGEST_TIMER_MS } from "../core/time/deadline.ts";

/** A limiter in this process's memory. With a longer timer than Node's longest, each budget would be full again at once. */
export const createMemoryLimiter: CreateLimiter = ({ points, seconds }) =>
  new RateLimiterMemory({ points, duration: Math.min(seconds, LONGEST_TIMER_MS / 1000) });
