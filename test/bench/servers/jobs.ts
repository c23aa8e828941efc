import { createPayments } from "../../../runtime/core/payments.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { createApp } from "../../../runtime/server/app.ts";
import { openJobShop } from "../job-shop.ts";
import { SITE } from "../shop.ts";
import { announce } from "./announce.ts";

/** Works on jobs, and tells how they stand. `node jobs.ts <folder | Redis URL> <milliseconds of each job's step>`. */
const [place = "", pauseMs = "0"] = process.argv.slice(2);
const clock = { now: Date.now };
const site = { ...SITE, rails: [] };
await announce(async (baseUrl) => {
  const { services, store, jobs, close } = await openJobShop(place, Number(pauseMs), baseUrl);
  const payments = createPayments({ site, services, rails: [], jobs, store, clock, log: silentLog });
  jobs.start();
  process.once("SIGTERM", () => {
    payments.close();
    void close().then(() => process.exit(0));
  });
  const { invoke, offers } = payments;
  return createApp({
    services,
    invoke,
    challenge: offers.challenge,
    clock,
    log: silentLog,
    site: { ...site, baseUrl },
    limits: SITE.limits,
    createLimiter: createMemoryLimiter,
    ready: () => Promise.reject(new Error("not asked")),
  });
});
