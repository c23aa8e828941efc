import type { InnerCall } from "./inner-call.ts";

/** Operation (1 byte), target (20), value (32) and length (32), before the data. */
const HEAD_BYTES = 85;
/** An entry with no more bytes than this is ignored. */
const IGNORED_BYTES = 32;
/** Safe's Enum.Operation. */
export const DELEGATECALL = 1;
/** How many zeros are shown of those that follow the end. */
const MOST_ZEROS = 1024;

/** Safe's MultiSend packs its calls. Like the contract, this reads zeros behind the end, so that no call is hidden. */
export function readMultiSend(packed: string): InnerCall[] {
  const given = Buffer.from(packed.slice(2), "hex");
  const bytes = Buffer.concat([given, Buffer.alloc(HEAD_BYTES + MOST_ZEROS)]);
  const calls: InnerCall[] = [];
  let isRefused = false; // It knows two operations. With any other it refuses all calls.
  for (let at = 0; at + IGNORED_BYTES < given.length; ) {
    const wei = BigInt(`0x${bytes.toString("hex", at + 21, at + 53)}`);
    const length = BigInt(`0x${bytes.toString("hex", at + 53, at + HEAD_BYTES)}`);
    const end = at + HEAD_BYTES + Number(length);
    isRefused ||= (bytes[at] as number) > DELEGATECALL;
    calls.push({
      target: `0x${bytes.toString("hex", at + 1, at + 21)}`,
      wei,
      data: `0x${bytes.toString("hex", at + HEAD_BYTES, Math.min(end, bytes.length))}`,
      isDelegate: bytes[at] === DELEGATECALL,
    });
    at = end;
  }
  return isRefused ? calls.map((inner) => ({ ...inner, isRefused })) : calls;
}
