import { definePlugin, Problem, toValueError, type ValidationIssue } from "#plugin";
import { toDatetimeFields } from "./fields.ts";
import { readIso } from "./machine/iso.ts";
import { read } from "./read.ts";
import { confidenceOf, type Reading, unclear } from "./reading.ts";
import { toZone } from "./zones/zones.ts";

/** Parses dates and times in machine formats and in English (/v1/parse/datetime). */
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

    run({ input, timezone, base_time }) {
      const zone = toZone(timezone) ?? "UTC";
      const now = new Date(clock.now()).toISOString().replace(/\.\d+/, "");
      const base = toBase(base_time ?? now, zone) as Reading; // `check` has parsed it.
      const reading = read(input, base.at);
      const at = reading.at.withTimeZone(zone);
      if (at.year < 1 || at.year > 9999) throw unclear("The moment lies outside of the years 1 to 9999");
      const assumptions = [
        ...new Set([...base.assumptions.map((each) => `base_time: ${each}`), ...reading.assumptions]),
      ];
      return {
        ...toDatetimeFields(at, base.at),
        confidence: confidenceOf({ ...reading, at, assumptions }),
        assumptions,
        parsed_input: input,
      };
    },
  },
}));

/** Undefined when the text is not ISO 8601. */
function toBase(text: string, zone: string): Reading | undefined {
  try {
    const reading = readIso(text, zone);
    return reading && { ...reading, at: reading.at.withTimeZone(zone) };
  } catch {
    return undefined;
  }
}
