import type { Temporal } from "temporal-polyfill";
import { definePlugin, Problem, toValueError, type ValidationIssue } from "#plugin";
import { toAnswer } from "./answer.ts";
import { readIso } from "./machine/iso.ts";
import { read } from "./read.ts";
import { unclear } from "./reading.ts";
import { toZone } from "./zones.ts";

/** Dates and times in machine formats and in English. Rules and confidence: the schemas of request and response. */
export default definePlugin("datetime", ({ clock }) => ({
  parse: {
    check({ timezone, base_time }) {
      const issues: ValidationIssue[] = [];
      const zone = toZone(timezone);
      if (!zone) issues.push(toValueError(`unknown IANA time zone: ${timezone}`, timezone, "timezone"));
      if ((base_time ?? null) !== null && !toBase(base_time as string, zone ?? "UTC"))
        issues.push(toValueError("base_time must be an ISO 8601 date or date and time", base_time, "base_time"));
      if (issues.length > 0) throw new Problem("invalid-input", undefined, { issues });
    },

    async run({ input, timezone, base_time }) {
      const zone = toZone(timezone) ?? "UTC";
      const base = toBase(base_time ?? new Date(clock.now()).toISOString().replace(/\.\d+/, ""), zone);
      const { at, confidence } = await read(input, base as Temporal.ZonedDateTime); // `check` has read it.
      const local = at.withTimeZone(zone);
      if (local.year < 1 || local.year > 9999) throw unclear("The moment lies outside of the years 1 to 9999");
      return { ...toAnswer(local, base as Temporal.ZonedDateTime), confidence, parsed_input: input };
    },
  },
}));

/** Undefined when the text is not ISO 8601. */
function toBase(text: string, zone: string): Temporal.ZonedDateTime | undefined {
  try {
    return readIso(text, zone)?.at.withTimeZone(zone);
  } catch {
    return undefined;
  }
}
