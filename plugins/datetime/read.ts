import type { Temporal } from "temporal-polyfill";
import { readInternet } from "./machine/internet.ts";
import { readIso } from "./machine/iso.ts";
import { readUnix } from "./machine/unix.ts";
import { lower, type Reading, unclear } from "./reading.ts";
import { readShift, type Shift, shiftBy } from "./shift.ts";
import { toPlainSpelling } from "./spelling.ts";
import { readWords } from "./words/words.ts";
import { takeZone } from "./zones.ts";

/** No phrase that is understood is longer. */
const MAX_LENGTH = 120;
const MAX_DEPTH = 3;

/**
 * The moment that a text names. @param base now, in the zone of texts that name none.
 * @throws Problem `unparseable-input` when any part of the text is not understood or names what does not exist.
 */
export async function read(input: string, base: Temporal.ZonedDateTime): Promise<Reading> {
  const text = input.trim().replaceAll(/\s+/g, " ");
  if (text.length > MAX_LENGTH) throw unclear(`No date or time needs more than ${MAX_LENGTH} characters`);
  try {
    return readMachine(text, base) ?? (await readPlain(toPlainSpelling(text), base, 0));
  } catch (error) {
    if (error instanceof RangeError) throw unclear("The text names a date or a time that does not exist", error);
    throw error;
  }
}

const readMachine = (text: string, base: Temporal.ZonedDateTime): Reading | undefined =>
  readIso(text, base.timeZoneId) ?? readInternet(text, base) ?? readUnix(text, base.timeZoneId);

async function readPlain(text: string, base: Temporal.ZonedDateTime, depth: number): Promise<Reading> {
  if (depth > MAX_DEPTH) throw unclear("The text counts from a moment that counts from a moment too often");
  const now: Reading = { at: base, wholeDay: false, confidence: "medium" };
  if (/^(?:right )?now$/.test(text)) return now;
  const shift = readShift(text);
  if (shift) return readShifted(shift, now, depth);
  const named = takeZone(text);
  const local = named ? base.withTimeZone(named.zone) : base;
  const rest = named?.rest ?? text;
  const reading = (named && readIso(rest, local.timeZoneId)) ?? (await readWords(rest, local, base.toPlainDate()));
  return { ...reading, confidence: lower(reading.confidence, named?.confidence ?? "high") };
}

async function readShifted(shift: Shift, now: Reading, depth: number): Promise<Reading> {
  const { anchor, clock } = shift;
  if (clock !== undefined) {
    const { at, confidence } = shiftBy(now, shift);
    const reading = await readPlain(`${at.toPlainDate()} ${clock}`, now.at, depth + 1);
    return { ...reading, confidence: lower(reading.confidence, confidence) };
  }
  if (anchor === undefined) return shiftBy(now, shift);
  const from = readMachine(anchor, now.at) ?? (await readPlain(anchor, now.at, depth + 1));
  return shiftBy({ ...from, confidence: lower(from.confidence, "medium") }, shift);
}
