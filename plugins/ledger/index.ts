import { definePlugin, type HandlersOf, Problem, toValueError } from "#plugin";
import { readLedger } from "./account.ts";
import { createToChecksum } from "./checksums.ts";
import { DAY_SECONDS } from "./period.ts";
import { loadRegistry } from "./registry.ts";
import { toQuery } from "./request.ts";
import { SPEC_VERSION, summarize } from "./summary.ts";

/** The limits of a summary (README.md in this folder). */
const SUMMARY_DAYS = 120;
const SUMMARY_TRANSFERS = 25_000;
/** Part of the deadline of 60 seconds in the manifest. */
const SUMMARY_READ_MS = 45_000;
const SUMMARY_PAUSE_SECONDS = 5;
const INSTEAD = "choose a shorter one, or buy /v1/ledger/report";

/** Spend accounting from the USDC transfers of a wallet on Base: /v1/ledger/summary and /v1/ledger/report. */
export default definePlugin("ledger", (host) => {
  const { clock, env, reports, site, upstream } = host;
  const node = upstream("base");
  const own = { id: new URL(site.baseUrl).host, label: site.name, recipient: env.BASE_PAYMENT_ADDRESS };
  const registry = loadRegistry(env.LEDGER_REGISTRY, own);

  return {
    summary: {
      check(input) {
        const { from, to } = toQuery(input, clock.now()).period;
        if (to - from + 1 <= SUMMARY_DAYS * DAY_SECONDS) return;
        const complaint = `the range must not be longer than ${SUMMARY_DAYS} days; ${INSTEAD}`;
        throw new Problem("invalid-input", undefined, { issues: [toValueError(complaint, input.from, "from")] });
      },

      async run(input, { signal, report }) {
        const now = clock.now();
        const query = toQuery(input, now);
        const account = await readLedger(query, {
          node,
          registry,
          clock,
          most: SUMMARY_TRANSFERS,
          otherwise: INSTEAD,
          budgetMs: SUMMARY_READ_MS,
          longestPauseSeconds: SUMMARY_PAUSE_SECONDS,
          signal,
          report,
        });
        return {
          ...(await summarize(query, account, await createToChecksum())),
          registry_version: registry.version,
          spec_version: SPEC_VERSION,
          generated_at: new Date(now).toISOString(),
        };
      },
    },

    // Only `report` signs and anchors, so a site that does not sell it needs no treasury key.
    get report(): HandlersOf<"ledger">["report"] {
      const { anchor, treasury } = host;
      return {
        check: (input) => void toQuery(input, clock.now()),
        ready: (_input, signal) => anchor.ready(signal),

        async run(input, call) {
          const { report } = await import("./report/report.ts");
          return report(input, call, { anchor, clock, reports, site, treasury, node, registry });
        },
      };
    },
  };
});
