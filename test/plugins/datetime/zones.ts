import type { Scene } from "./table.ts";

/** Zones whose clocks change, and one whose calendar lost a day. */
export const ZONES: readonly Scene[] = [
  {
    zone: "America/New_York", // forward on 14 March, back on 7 November 2027
    base: "2027-03-12T12:00:00-05:00",
    rows: [
      ["2027-03-14T01:59:59", "2027-03-14T01:59:59-05:00", "high"],
      ["2027-03-14T02:30", "2027-03-14T03:30:00-04:00", "low"],
      ["2027-03-14T03:00", "2027-03-14T03:00:00-04:00", "high"],
      ["2027-11-07T01:30", "2027-11-07T01:30:00-04:00", "low"],
      ["2027-11-07T01:30-05:00", "2027-11-07T01:30:00-05:00", "high"],
      ["2027-11-07T01:30-05:00[America/New_York]", "2027-11-07T01:30:00-05:00", "high"],
      ["2027-11-07T02:00", "2027-11-07T02:00:00-05:00", "high"],
      ["1800086400", "2027-01-16T03:00:00-05:00", "high"],
      ["Sun Mar 14 09:00:00 2027", "2027-03-14T09:00:00-04:00", "low"], // asctime
      ["in 2 days", "2027-03-14T12:00:00-04:00", "medium"],
      ["in 48 hours", "2027-03-14T13:00:00-04:00", "medium"],
      ["sunday at 2:30 am", "2027-03-14T03:30:00-04:00", "low"],
      ["tomorrow at 3pm", "2027-03-13T15:00:00-05:00", "medium"],
      ["last sunday of march 2027", "2027-03-28T00:00:00-04:00", "medium"],
      ["noon London time tomorrow", "2027-03-13T07:00:00-05:00", "medium"],
      ["tomorrow 3pm ET", "2027-03-13T15:00:00-05:00", "medium"],
      ["3pm London tomorrow", "2027-03-13T10:00:00-05:00", "medium"],
      ["13 March 2027 3pm ICT", "2027-03-13T03:00:00-05:00", "medium"],
      ["Sat, 13 Mar 2027 15:00:00 IDT", "2027-03-13T07:00:00-05:00", "high"],
      ["tomorrow 3pm GST", "2027-03-13T06:00:00-05:00", "low"],
      ["10:30 Rio de Janeiro on 15 March 2027", "2027-03-15T09:30:00-04:00", "medium"],
      ["tomorrow 3pm Eastern Standard Time", "2027-03-13T15:00:00-05:00", "medium"],
      ["3/15/27, 9:30:05 AM Pacific Daylight Time", "2027-03-15T12:30:05-04:00", "low"],
      ["15 March 2027 at 14:30 (Coordinated Universal Time)", "2027-03-15T10:30:00-04:00", "medium"],
      ["noon in Central European Time on 15 March 2027", "2027-03-15T07:00:00-04:00", "medium"],
      ["3pm ET tomorrow", "2027-03-13T15:00:00-05:00", "medium"],
      ["1883-11-18T12:30:00", "1883-11-18T12:30:00-05:00", "high"],
      ["1883-11-01", "1883-11-01T00:00:00-04:56:02", "high"],
    ],
  },
  {
    zone: "Europe/London", // forward on 28 March, back on 31 October 2027
    base: "2027-03-27T23:30:00Z",
    rows: [
      ["tomorrow at 01:15", "2027-03-28T02:15:00+01:00", "low"],
      ["the day after tomorrow at 01:15", "2027-03-29T01:15:00+01:00", "medium"],
      ["a day and 2 hours after tomorrow at 01:15", "2027-03-29T03:15:00+01:00", "medium"],
      ["2 hours after 01:15 tomorrow", "2027-03-28T04:15:00+01:00", "low"],
      ["in 2 hours", "2027-03-28T02:30:00+01:00", "medium"],
      ["in a day", "2027-03-28T23:30:00+01:00", "medium"],
      ["31 October 2027 at 01:30", "2027-10-31T01:30:00+01:00", "low"],
      ["31 October 2027 at 01:30 GMT", "2027-10-31T01:30:00+00:00", "medium"],
      ["an hour after 2027-10-31T00:30:00Z", "2027-10-31T01:30:00+00:00", "medium"],
      ["tomorrow", "2027-03-28T00:00:00+00:00", "medium"],
      ["tomorrow in Tokyo time", "2027-03-28T16:00:00+01:00", "low"],
      ["2027-07-01T12:00:00Z", "2027-07-01T13:00:00+01:00", "high"],
      ["1 July 2027 noon", "2027-07-01T12:00:00+01:00", "medium"],
    ],
  },
  {
    zone: "Africa/Cairo", // back by an hour at the end of 31 October 2024
    base: "2024-10-30T12:00:00+03:00",
    rows: [
      ["end of this month", "2024-10-31T23:59:59+02:00", "medium"],
      ["end of tomorrow", "2024-10-31T23:59:59+02:00", "medium"],
      ["end of today", "2024-10-30T23:59:59+03:00", "medium"],
      ["31 October 2024 at 23:59:59", "2024-10-31T23:59:59+03:00", "low"],
    ],
  },
  {
    zone: "Australia/Lord_Howe", // half an hour: forward on 3 October, back on 4 April 2027
    base: "2027-04-03T12:00:00+11:00",
    rows: [
      ["2027-10-03T02:15", "2027-10-03T02:45:00+11:00", "low"],
      ["2027-10-03T02:30", "2027-10-03T02:30:00+11:00", "high"],
      ["2027-04-04T01:45", "2027-04-04T01:45:00+11:00", "low"],
      ["2027-04-04T01:45+10:30", "2027-04-04T01:45:00+10:30", "high"],
      ["in 24 hours", "2027-04-04T11:30:00+10:30", "medium"],
      ["tomorrow at noon", "2027-04-04T12:00:00+10:30", "medium"],
    ],
  },
  {
    zone: "Asia/Kathmandu", // a quarter of an hour forward at the start of 1986
    base: "1985-12-31T12:00:00+05:30",
    rows: [
      ["tomorrow", "1986-01-01T00:15:00+05:45", "medium"],
      ["1986-01-01T00:05", "1986-01-01T00:20:00+05:45", "low"],
      ["5pm tomorrow", "1986-01-01T17:00:00+05:45", "medium"],
      ["in 24 hours", "1986-01-01T12:15:00+05:45", "medium"],
    ],
  },
  {
    zone: "Pacific/Apia", // had no 30 December 2011
    base: "2011-12-29T12:00:00-10:00",
    rows: [
      ["tomorrow", "2011-12-31T00:00:00+14:00", "low"],
      ["2011-12-30", "2011-12-31T00:00:00+14:00", "low"],
      ["2011-12-30T10:00", "2011-12-31T10:00:00+14:00", "low"],
      ["in 24 hours", "2011-12-31T12:00:00+14:00", "medium"],
      ["in 1 day", "2011-12-31T12:00:00+14:00", "low"],
      ["in 2 days", "2011-12-31T12:00:00+14:00", "medium"],
    ],
  },
  {
    zone: "America/Sao_Paulo", // went from 23:59 to 01:00 on 4 November 2018
    base: "2018-11-03T22:00:00-03:00",
    rows: [
      ["2018-11-04", "2018-11-04T01:00:00-02:00", "high"],
      ["2018-11-04T00:30", "2018-11-04T01:30:00-02:00", "low"],
      ["tomorrow", "2018-11-04T01:00:00-02:00", "medium"],
      ["tomorrow at midnight", "2018-11-04T01:00:00-02:00", "low"],
      ["in 3 hours", "2018-11-04T02:00:00-02:00", "medium"],
      ["end of day", "2018-11-03T23:59:59-03:00", "medium"],
    ],
  },
  {
    zone: "Africa/Monrovia", // three quarters of an hour and half a minute behind, until 1972
    base: "1971-06-01T00:00:00Z",
    rows: [
      ["1970-01-01T00:00", "1970-01-01T00:00:00-00:44:30", "high"],
      ["1970-01-01T00:00:00-00:44:30", "1970-01-01T00:00:00-00:44:30", "high"],
    ],
  },
  {
    zone: "America/New_York", // in the hour that is repeated on 7 November 2027, the second time
    base: "2027-11-07T01:30:00-05:00",
    rows: [
      ["1:45am", "2027-11-07T01:45:00-05:00", "low"],
      ["Sunday 1:45am", "2027-11-07T01:45:00-05:00", "low"],
      ["1:15am", "2027-11-08T01:15:00-05:00", "low"],
      ["2am", "2027-11-07T02:00:00-05:00", "low"],
      ["today at 1:45am", "2027-11-07T01:45:00-04:00", "low"],
    ],
  },
];
