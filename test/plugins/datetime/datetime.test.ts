import { expect } from "chai";
import datetime from "../../../plugins/datetime/index.ts";
import { createHost, faultsOf, NOW, problemOf, type Serve, serve } from "../host.ts";
import { REFUSED } from "./refused.ts";
import { SCENES } from "./table.ts";

const FRIDAY = "2026-11-20T14:30:00Z";
const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

describe("a parsed date and time", () => {
  let ask: Serve;
  before(async () => {
    ask = await serve("parse_datetime", datetime, createHost());
  });

  for (const { zone, base, rows } of SCENES)
    for (const [input, iso, confidence] of rows)
      it(`is ${iso} (${confidence}) for "${input}" in ${zone}`, async () => {
        const answer = await ask({ input, base_time: base, timezone: zone });
        expect(answer).to.deep.include({ iso, confidence, timezone: zone, parsed_input: input });
        expect(answer.unix).to.equal(toUnix(iso));
        expect(answer.relative_seconds).to.equal(toUnix(iso) - toUnix(base));
        expect(answer.components).to.deep.equal(toComponents(iso));
        expect((answer.assumptions as string[]).length > 0).to.equal(confidence === "low");
      });

  for (const input of REFUSED)
    it(`is refused for "${input}"`, async () => {
      const problem = await problemOf(ask({ input, base_time: FRIDAY }));
      expect(problem.code).to.equal("unparseable-input");
      expect(problem.message).to.match(/^[A-Z"\d].{15,}/);
    });

  it("is understood in at least 400 texts of the table", () => {
    expect(SCENES.reduce((sum, { rows }) => sum + rows.length, 0)).to.be.at.least(400);
  });

  it("is taken from texts of the longest length that the schema allows", async () => {
    const input = `tomorrow${" ".repeat(485)} at 5pm`;
    expect(input).to.have.length(500);
    expect(await ask({ input, base_time: FRIDAY })).to.include({ iso: "2026-11-21T17:00:00+00:00" });
  });

  it("is never of high confidence where a count leads out of the years 1970 to 2100, in whatever zone", async () => {
    for (const timezone of ["America/New_York", "Asia/Tokyo"]) {
      const confidenceOf = async (input: string): Promise<unknown> => (await ask({ input, timezone })).confidence;
      for (const input of ["-1", "99999999999999", "@4133980800", "new Date(4133980800000)"])
        expect(await confidenceOf(input), input).not.to.equal("high");
      for (const input of ["0", "@4133980799", "1969-07-20T20:17:40Z", "1815-12-10"])
        expect(await confidenceOf(input), input).to.equal("high");
    }
  });

  it("names what it assumed", async () => {
    const assumed: Record<string, string[]> = {
      "04/03/2027": ["4/3 is read with the month first"],
      "Sunday 10 May": ["The weekday fits 2026 alone, of this year and the next eight"],
      "Monday, on the 3rd": ["The next such date that is not over is taken"],
      Thanksgiving: ["The day follows the rule of the United States", "The next one that is not over is taken"],
      "tomorrow morning": ["The morning is taken as 06:00"],
      "in 3 business days": ["Business days are Monday to Friday; holidays are not considered"],
      "tomorrow 3pm in San Juan": [
        "San Juan is taken as the one in the zone America/Argentina/San_Juan; there are others of that name",
      ],
      "tomorrow 3pm CST": ["CST is taken as Central Standard Time (America)"],
      "Tuesday the 1st": ["The next such Tuesday is taken: 2026-12-01"],
      "now-1M": ["M is read as months; m would be minutes"],
      "1530 UTC": ["1530 is read as a time of day, not as a year", "The next such time is taken"],
      "June 18 1815": ["1815 is read as a year, not as a time of day"],
      "134395560000000000": ["134395560000000000 is read as 100 ns since 1601 (Windows FILETIME)"],
    };
    for (const [input, assumptions] of Object.entries(assumed))
      expect(await ask({ input, base_time: FRIDAY }), input).to.deep.include({ assumptions, confidence: "low" });
  });

  it("is refused with the reason, where its parts do not fit together", async () => {
    const reasons = {
      "Monday 24 November 2026": "2026-11-24 is a Tuesday: the weekday in the text contradicts its date",
      "Mon, 24 Nov 2026 10:00:00 GMT": "2026-11-24 is a Tuesday: the weekday in the text contradicts its date",
      "last night at 1am": "The text names a time that is not in the night",
      "9 o'clock this lunchtime": "9 o'clock is not in the lunchtime: write the time with am or pm",
    };
    for (const [input, reason] of Object.entries(reasons))
      expect((await problemOf(ask({ input, base_time: FRIDAY }))).message, input).to.equal(reason);
  });

  it("says that a month has no such day, however the text counts to it", async () => {
    const texts = [
      ["in 1 month", "2027-01-31T12:00:00Z", "2027-02 has no day 31; its last day is taken"],
      ["today next month", "2027-01-31T12:00:00Z", "2027-02 has no day 31; its last day is taken"],
      ["this time next month", "2027-01-31T12:00:00Z", "2027-02 has no day 31; its last day is taken"],
      ["last month on this day", "2027-03-31T12:00:00Z", "2027-02 has no day 31; its last day is taken"],
      ["same day last year", "2028-02-29T12:00:00Z", "2027-02 has no day 29; its last day is taken"],
    ] as const;
    for (const [input, base_time, assumption] of texts)
      expect(await ask({ input, base_time }), input).to.deep.include({ assumptions: [assumption], confidence: "low" });
  });

  it("names what it assumed of the base time", async () => {
    const base = { base_time: "2027-11-07T01:30", timezone: "America/New_York" };
    expect(await ask({ input: "in 1 hour", ...base })).to.deep.include({
      iso: "2027-11-07T01:30:00-05:00",
      confidence: "low",
      assumptions: [
        "base_time: a clock change repeats 2027-11-07T01:30:00 in America/New_York; the first one is taken",
      ],
    });
  });

  it("is the same in whatever zone the process runs", async () => {
    const own = process.env.TZ;
    try {
      for (const zone of ["Pacific/Apia", "America/New_York", "America/Sao_Paulo"]) {
        process.env.TZ = zone;
        for (const scene of SCENES)
          for (const [input, iso] of scene.rows)
            expect((await ask({ input, base_time: scene.base, timezone: scene.zone })).iso, input).to.equal(iso);
      }
    } finally {
      if (own === undefined) delete process.env.TZ;
      else process.env.TZ = own;
    }
  });

  it("is refused when a word that it does not know is put anywhere into a text in words", async () => {
    const texts = SCENES.flatMap(({ rows }) => rows.filter(([input]) => / [a-z]/i.test(input) && !/\(/.test(input)));
    expect(texts.length).to.be.above(90);
    for (const [text] of texts) {
      const words = text.split(" ");
      for (let i = 0; i <= words.length; i++) {
        const input = words.toSpliced(i, 0, "perhaps").join(" ");
        expect((await problemOf(ask({ input, base_time: FRIDAY }))).code, input).to.equal("unparseable-input");
      }
    }
  });

  it("is relative to the clock, in whole seconds, when there is no base time", async () => {
    ask = await serve("parse_datetime", datetime, createHost({ clock: { now: () => NOW + 789 } }));
    expect(await ask({ input: "in 3 hours" })).to.include({
      iso: new Date(NOW + 3 * 3_600_000).toISOString().replace(".000Z", "+00:00"),
      timezone: "UTC",
      relative_seconds: 10_800,
      relative_human: "in 3 hours",
    });
    expect(await ask({ input: "now", base_time: null })).to.include({ relative_seconds: 0, relative_human: "now" });
  });

  it("reads a base time without an offset in the given zone, and any ISO 8601 form", async () => {
    for (const base_time of ["2027-06-01T09:00", "2027-06-01T09:00-04:00", "2027-W22-2T13:00:00Z", "20270601T0900"])
      expect(await ask({ input: "in 1 hour", base_time, timezone: "America/New_York" })).to.include({
        iso: "2027-06-01T10:00:00-04:00",
      });
    expect(await ask({ input: "now", base_time: "2027-06-01", timezone: "Asia/Tokyo" })).to.include({
      iso: "2027-06-01T00:00:00+09:00",
    });
  });

  it("takes zones in any case and says their proper names", async () => {
    expect(await ask({ input: "0", timezone: "europe/london" })).to.include({
      timezone: "Europe/London",
      iso: "1970-01-01T01:00:00+01:00",
    });
  });

  it("refuses unknown zones and base times that are not ISO 8601, both at once", async () => {
    expect(await faultsOf(ask({ input: "now", timezone: "Mars/Base", base_time: "yesterday" }))).to.deep.equal([
      "body.timezone: Value error, unknown IANA time zone: Mars/Base",
      "body.base_time: Value error, base_time must be an ISO 8601 date or date and time",
    ]);
    for (const timezone of ["", "+05:30", "EST5EDT4", "UTC+1", "Z", "../etc", "constructor"])
      expect(await faultsOf(ask({ input: "now", timezone })), timezone).to.have.length(1);
    for (const base_time of ["", "1700000000", "2027-02-30", "2027-03-04T10:30+05:00[America/New_York]", "tomorrow"])
      expect(await faultsOf(ask({ input: "now", base_time })), base_time).to.have.length(1);
  });

  it("does not take an empty text, or one of 501 characters", async () => {
    for (const input of ["", "x".repeat(501)]) expect((await problemOf(ask({ input }))).code).to.equal("invalid-input");
  });

  const distances: Record<string, string> = {
    "in 1 second": "in 1 second",
    "59 seconds ago": "59 seconds ago",
    "in 90 seconds": "in 2 minutes",
    "90 seconds ago": "2 minutes ago",
    "in 59 minutes and 40 seconds": "in 1 hour",
    "2 hours ago": "2 hours ago",
    "in 23 hours and 40 minutes": "in 1 day",
    "in 3 days": "in 3 days",
    "in 29 days": "in 29 days",
    "in 6 weeks": "in 1 month",
    "200 days ago": "7 months ago",
    "in 360 days": "in 1 year",
    "in 500 years": "in 500 years",
  };
  for (const [input, words] of Object.entries(distances))
    it(`says "${words}" for "${input}"`, async () => {
      expect(await ask({ input, base_time: FRIDAY })).to.include({ relative_human: words });
    });

  it("takes a bounded time over the longest and worst texts", async () => {
    const units = [
      "1",
      "1 day ",
      "an ",
      "march 5 ",
      "last monday of ",
      "half past 5 ",
      "+1",
      "a/b ",
      "new york ",
      " ",
      "ﷺ",
      "[",
    ];
    const unit = ["the day after ", "1-", "1:", "5 past 5 ", "in the morning ", "twenty-one ", "(", "and ", "2027 "];
    for (const text of [...units, ...unit].flatMap((repeated) =>
      [120, 500].map((length) => repeated.repeat(length).slice(0, length)),
    ))
      await ask({ input: text, base_time: FRIDAY }).catch((error) => expect(error.code).to.equal("unparseable-input"));
  });

  /** Date.parse knows no offsets with seconds. */
  function toUnix(iso: string): number {
    const [, wall = "", sign, hours = 0, minutes = 0, seconds = 0] =
      /^(.{19}(?:\.\d+)?)(?:Z|([+-])(\d\d):(\d\d)(?::(\d\d))?)$/.exec(iso) ?? expect.fail(iso);
    const offset = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return Math.floor(Date.parse(`${wall}Z`) / 1000) - (sign === "-" ? -offset : offset);
  }

  function toComponents(iso: string): object {
    const [year, month, day, hour, minute, second] = (iso.slice(0, 19).match(/\d+/g) ?? []).map(Number);
    const weekday = (new Date(`${iso.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7;
    return { year, month, day, hour, minute, second, weekday, day_name: DAYS[weekday] };
  }
});
