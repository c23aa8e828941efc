/** Only this class is imported: the package's index would load 35 more modules. */
declare module "rate-limiter-flexible/lib/RateLimiterRedis.js" {
  import { RateLimiterRedis } from "rate-limiter-flexible";
  export = RateLimiterRedis;
}
