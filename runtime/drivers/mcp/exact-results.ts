import { isDeep, isObject, parseDigits, tryParseJson } from "../../core/json.ts";
import { toMediaType } from "../../core/proxy/media.ts";
import { toAccepted } from "./nulls.ts";

const FIELD = "structuredContent";
/** More bytes than a message may have: longer ones are passed on unchanged, and are refused by the client. */
const LONGEST = 32 * 1024 * 1024;
const LF = 10;
const CR = 13;

/**
 * Passes a server's output on in whole lines, each message changed by `toReadable`. Given chunks, the client would copy the whole
 * beginning of a message with each of them, which takes seconds for a message of 16 MB.
 */
export function gatherLines(hand: (lines: Buffer) => void): (chunk: Uint8Array) => void {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  return (chunk) => {
    gathered.push(chunk);
    bytes += chunk.length;
    if (bytes <= LONGEST && endOfLines(chunk) === 0) return;
    const all = Buffer.concat(gathered);
    const end = bytes > LONGEST ? bytes : endOfLines(all);
    gathered = end < bytes ? [all.subarray(end)] : [];
    bytes -= end;
    hand(toExactLines(all.subarray(0, end)));
  };
}

/** An answer over HTTP, changed by `toReadable`: one message as JSON, or messages in the lines of a stream. */
export function toExactResponse(response: Response): Response {
  const isStream = toMediaType(response.headers.get("content-type")) === "text/event-stream";
  return new Response(response.body?.pipeThrough(isStream ? byLines() : asWhole()), response);
}

function byLines(): TransformStream<Uint8Array, Uint8Array> {
  let add: (chunk: Uint8Array) => void;
  return new TransformStream({
    start(controller) {
      add = gatherLines((lines) => controller.enqueue(lines));
    },
    transform: (chunk) => add(chunk),
  });
}

function asWhole(): TransformStream<Uint8Array, Uint8Array> {
  const chunks: Uint8Array[] = [];
  return new TransformStream({
    transform: (chunk) => void chunks.push(chunk),
    flush: (controller) => controller.enqueue(Buffer.from(toReadable(Buffer.concat(chunks).toString()))),
  });
}

/** The place after the last end of line; 0 when there is none. A stream may end its lines with CR alone. */
const endOfLines = (bytes: Uint8Array): number => Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;

function toExactLines(lines: Buffer): Buffer {
  if (![FIELD, '"_meta"', "null"].some((mark) => lines.includes(mark))) return lines;
  const exact = lines.toString().split(/(?<=[\r\n])/);
  return Buffer.from(exact.map(toExactLine).join(""));
}

/**
 * A line, which may have a name, as in a stream, and an end. No pattern runs over the message: in a process that has run many
 * patterns, V8 optimizes them no more, and its stack is too small for some millions of characters.
 */
function toExactLine(line: string): string {
  const start = /^(?:data: ?)?/.exec(line)?.[0].length ?? 0;
  const end = line.length - (/[\r\n]/.test(line.at(-1) ?? "") ? 1 : 0);
  return start < end ? line.slice(0, start) + toReadable(line.slice(start, end)) + line.slice(end) : line;
}

const toReadable = (json: string): string => toAccepted(toExact(json));

/**
 * A JSON-RPC message in which integers that JavaScript would round are strings of their digits. Only the data of tools'
 * results are changed: schemas in lists of tools keep their numbers.
 */
function toExact(json: string): string {
  const message = json.includes(FIELD) && /\d{16}/.test(json) ? tryParseJson(json) : undefined;
  if (!isObject(message) || isDeep(message) || !isObject(message.result) || !(FIELD in message.result)) return json;
  const { result } = parseDigits(json) as { readonly result: { readonly [FIELD]: unknown } };
  return JSON.stringify({ ...message, result: { ...message.result, [FIELD]: result[FIELD] } });
}
