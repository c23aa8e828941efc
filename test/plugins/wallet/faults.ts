import { breaks, hangs, type Line, stalls } from "../../support/sources/scripted-source.ts";
import { askForPause, OVER_RATE_LIMIT } from "../../support/world/manners.ts";

const toRpc = (members: object): Line => JSON.stringify({ jsonrpc: "2.0", id: 1, ...members });

/** What a node can give instead of an answer. */
export const FAULTS: Readonly<Record<string, Line>> = {
  "status 503": 503,
  "a request for a pause": askForPause(60),
  "its rate limit in the body": OVER_RATE_LIMIT,
  "a page of HTML": "<html>Just a moment...</html>",
  "half of an answer": '{"jsonrpc":"2.0","id":1,"result":"0x',
  "an answer that is no JSON-RPC": "{}",
  "an answer of another kind": toRpc({ result: { something: "else" } }),
  "the answer of another chain": toRpc({ result: "0x" }),
  "a refusal": toRpc({ error: { code: -32000, message: "missing trie node" } }),
  "a method that it does not have": toRpc({ error: { code: -32601, message: "the method does not exist" } }),
  "a broken connection": breaks,
  "no answer": hangs,
  "the beginning of an answer": stalls,
};
