import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";
import type { CreateLimiter } from "../core/limiter.ts";

/** A limiter in this process's memory. */
export const createMemoryLimiter: CreateLimiter = ({ points, seconds }) =>
  new RateLimiterMemory({ points, duration: seconds });
