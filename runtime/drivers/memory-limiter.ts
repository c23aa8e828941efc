import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";
import type { CreateLimiter } from "../core/limiter.ts";

/** The longest time of a timer of Node, about 24 days: with a longer one, each budget would be full again at once. */
const LONGEST_SECONDS = (2 ** 31 - 1) / 1000;

/** A limiter in this process's memory. */
export const createMemoryLimiter: CreateLimiter = ({ points, seconds }) =>
  new RateLimiterMemory({ points, duration: Math.min(seconds, LONGEST_SECONDS) });
