import { expect } from "chai";
import fc from "fast-check";
import { Temporal } from "temporal-polyfill";
import datetime from "../../../plugins/datetime/index.ts";
import { CODE_POINTS } from "../../support/code-points.ts";
import { createHost, problemOf, type Serve, serve } from "../host.ts";

const ZONES = [
  "UTC",
  "America/New_York",
  "America/St_Johns",
  "America/Sao_Paulo",
  "Europe/London",
  "Europe/Dublin",
  "Africa/Casablanca",
  "Africa/Monrovia",
  "Asia/Kathmandu",
  "Asia/Tehran",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Kiritimati",
  "Antarctica/Troll",
];
const zones = fc.constantFrom(...ZONES);
const secondsFrom = (first: string, last: string): fc.Arbitrary<number> =>
  fc.integer({ min: Date.parse(first) / 1000, max: Date.parse(last) / 1000 });
const anySeconds = secondsFrom("0001-01-03T00:00:00Z", "9999-12-29T00:00:00Z");
const modernSeconds = secondsFrom("1990-01-01T00:00:00Z", "2060-01-01T00:00:00Z");

const inZone = (seconds: number, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(zone);

/** A count to any other moment than one of 1970 to 2100 may be something else. */
const isPlausibleCount = (seconds: number): boolean => seconds >= 0 && seconds < Date.UTC(2101, 0) / 1000;

describe("any date and time", () => {
  let ask: Serve;
  before(async () => {
    ask = await serve("parse_datetime", datetime, createHost());
  });

  /** Every way of writing a moment in a zone that a machine would choose. */
  const forms: Record<string, (at: Temporal.ZonedDateTime) => string> = {
    "ISO 8601": (at) => `${at.toPlainDateTime().toString({ smallestUnit: "second" })}${at.offset}`,
    "ISO 8601 in UTC": (at) => at.toInstant().toString(),
    "basic ISO 8601": (at) => at.toInstant().toString().replaceAll(/[-:]/g, ""),
    "an ISO week date": (at) => {
      const utc = at.withTimeZone("UTC");
      const [year, week] = [String(utc.yearOfWeek).padStart(4, "0"), String(utc.weekOfYear).padStart(2, "0")];
      return `${year}-W${week}-${utc.dayOfWeek}T${utc.toPlainTime()}Z`;
    },
    "an ISO ordinal date": (at) => {
      const utc = at.withTimeZone("UTC");
      const [year, day] = [String(utc.year).padStart(4, "0"), String(utc.dayOfYear).padStart(3, "0")];
      return `${year}-${day}T${utc.toPlainTime()}Z`;
    },
    "Unix seconds": (at) => `@${at.epochMilliseconds / 1000}`,
    "an HTTP date": (at) => new Date(at.epochMilliseconds).toUTCString(),
  };
  for (const [name, write] of Object.entries(forms))
    it(`comes back as it was, with high confidence, from ${name} in any zone`, async () => {
      await fc.assert(
        fc.asyncProperty(anySeconds, zones, zones, async (seconds, zone, timezone) => {
          const answer = await ask({ input: write(inZone(seconds, zone)), timezone });
          expect(answer).to.include({ unix: seconds, timezone });
          const isSure = name !== "Unix seconds" || isPlausibleCount(seconds);
          expect(answer.confidence).to.equal(isSure ? "high" : "medium");
        }),
        { numRuns: 150 },
      );
    });

  it("gives an ISO text that means the same, in any zone", async () => {
    await fc.assert(
      fc.asyncProperty(anySeconds, zones, async (seconds, timezone) => {
        const { iso } = await ask({ input: `@${seconds}`, timezone });
        expect(await ask({ input: iso, timezone: "UTC" })).to.include({ unix: seconds });
        expect(await ask({ input: "now", base_time: iso, timezone })).to.include({ unix: seconds, iso });
      }),
      { numRuns: 150 },
    );
  });

  it("is the day's first moment when there is only a date, in any zone", async () => {
    await fc.assert(
      fc.asyncProperty(modernSeconds, zones, async (seconds, timezone) => {
        const at = inZone(seconds, timezone);
        const start = at.startOfDay().epochMilliseconds / 1000;
        expect(await ask({ input: at.toPlainDate().toString(), timezone })).to.include({ unix: start });
      }),
      { numRuns: 150 },
    );
  });

  it("is read the same in words as in figures", async () => {
    await fc.assert(
      fc.asyncProperty(modernSeconds, zones, async (seconds, timezone) => {
        const at = inZone(seconds, timezone);
        const date = at
          .toPlainDate()
          .toLocaleString("en", { weekday: "long", year: "numeric", month: "long", day: "numeric" });
        const time = at.toPlainTime().toLocaleString("en", { hour: "numeric", minute: "2-digit", second: "2-digit" });
        const [words, figures] = await Promise.all([
          ask({ input: `${date} at ${time}`, timezone }),
          ask({ input: at.toPlainDateTime().toString(), timezone }),
        ]);
        expect(words.iso).to.equal(figures.iso);
        expect(words.confidence).to.equal(figures.confidence === "high" ? "medium" : "low");
      }),
      { numRuns: 150 },
    );
  });

  /** Dates without a leading zero, with and without a time at ten in the evening beside them. */
  const figures: Record<string, (date: string) => string> = {
    "M/D/YYYY": (date) => `${toAmerican(date)}/2028`,
    "D/M/YYYY": (date) => `${toAmerican(date).split("/").reverse().join("/")}/2028`,
    "YYYY/M/D": (date) => `2028/${toAmerican(date)}`,
    "22:00 M/D/YYYY": (date) => `22:00 ${toAmerican(date)}/2028`,
    "M/D/YYYY 10pm": (date) => `${toAmerican(date)}/2028 10pm`,
    "M/D 10 pm": (date) => `${toAmerican(date)} 10 pm`,
    "Month D 10pm": (date) => `${toEnglish(date)} 10pm`,
    "Mon. D 10 p.m.": (date) => `${toEnglish(date).replace(/(?<=^\w{3})[a-z]*/, ".")} 10 p.m.`,
    "at 10 D Month": (date) => `at 10 ${toEnglish(date).split(" ").reverse().join(" ")} 2028`,
    "10 minutes before D Month": (date) => `10 minutes before ${toEnglish(date).split(" ").reverse().join(" ")} 2028`,
  };
  for (const [form, write] of Object.entries(figures))
    it(`is read on each day of a year as ${form}`, async () => {
      for (let day = Temporal.PlainDate.from("2028-01-01"); day.year === 2028; day = day.add({ days: 1 })) {
        const isDayFirst = form === "D/M/YYYY";
        if (isDayFirst && day.day <= 12) continue; // Read with the month first.
        const input = write(String(day));
        const { iso } = await ask({ input, base_time: "2028-01-01T00:00:00Z" });
        const at = form.startsWith("10 minutes") ? day.subtract({ days: 1 }) : day;
        expect(String(iso).slice(0, 10), input).to.equal(String(at));
      }
    });

  it("moves by real hours and by calendar days, across every change of clocks", async () => {
    const counts = fc.integer({ min: 1, max: 500 });
    await fc.assert(
      fc.asyncProperty(modernSeconds, zones, counts, fc.boolean(), async (seconds, timezone, count, isAhead) => {
        const base = inZone(seconds, timezone);
        const say = (unit: string): Promise<Record<string, unknown>> =>
          ask({
            input: isAhead ? `in ${count} ${unit}` : `${count} ${unit} ago`,
            base_time: base.toInstant().toString(),
            timezone,
          });
        const sign = isAhead ? count : -count;
        expect((await say("hours")).unix).to.equal(seconds + sign * 3600);
        expect((await say("days")).unix).to.equal(base.add({ days: sign }).epochMilliseconds / 1000);
        expect((await say("months")).unix).to.equal(base.add({ months: sign }).epochMilliseconds / 1000);
      }),
      { numRuns: 150 },
    );
  });

  it("is either parsed or refused as unparseable, whatever the text", async () => {
    const word = fc.constantFrom(
      ..."last next monday of march 5 17:30 pm in day the at 2027 - / + . week half past tomorrow utc time end".split(
        " ",
      ),
    );
    const text = fc.oneof(
      fc.string({ unit: CODE_POINTS, minLength: 1, maxLength: 120 }),
      fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(" ")),
    );
    await fc.assert(
      fc.asyncProperty(text, zones, async (input, timezone) => {
        const answer = await ask({ input, timezone }).catch(
          async (error) => (await problemOf(Promise.reject(error))).code,
        );
        if (typeof answer === "string") expect(answer).to.equal("unparseable-input");
        else expect(answer.parsed_input).to.equal(input);
      }),
      { numRuns: 1000 },
    );
  });
});

const toAmerican = (date: string): string => date.slice(5).split("-").map(Number).join("/");
const toEnglish = (date: string): string =>
  Temporal.PlainDate.from(date).toLocaleString("en", { month: "long", day: "numeric" });
