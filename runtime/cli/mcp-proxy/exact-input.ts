import { Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { isCollection, isObject, parseDigits, tryParseJson } from "../../core/json.ts";

/** Longer lines are passed on unchanged: they are refused anyway. */
const LONGEST = 16 * 1024 * 1024;

/**
 * Passes on lines of JSON-RPC. In the arguments of tools, integers that JavaScript would round become texts of their digits:
 * otherwise another integer would be asked for and paid.
 */
export function keepInput(): Transform {
  const decoder = new StringDecoder("utf8");
  let begun = "";
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = (begun + decoder.write(chunk)).split("\n");
      begun = lines.pop() ?? "";
      for (const line of lines) this.push(`${toExact(line)}\n`);
      if (begun.length > LONGEST) {
        this.push(begun);
        begun = "";
      }
      done();
    },
  });
}

function toExact(line: string): string {
  const message = /\d{16}/.test(line) ? tryParseJson(line) : undefined; // Most lines have none.
  if (!isObject(message) || message.method !== "tools/call" || !isObject(message.params)) return line;
  try {
    const { params } = parseDigits(line) as { readonly params: { readonly arguments?: unknown } };
    return JSON.stringify({ ...message, params: { ...message.params, arguments: params.arguments } });
  } catch {
    // Of this call only: the server refuses a text as arguments.
    const id = isCollection(message.id) ? null : message.id;
    return JSON.stringify({ jsonrpc: "2.0", id, method: message.method, params: { arguments: "nested too deeply" } });
  }
}
