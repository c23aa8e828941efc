/** The texts of `payphone peer`. Control characters from a peer are never printed. */
import { field, type SellerResponse, textField } from "../call/http.ts";
import { printable } from "../printable.ts";

/** One line for each fact about the agent that answered. */
export function toHelloText(hello: unknown): string {
  const x402 = field(hello, "x402");
  const rows: [string, unknown][] = [
    ["agent", field(hello, "agent")],
    ["knows us as", field(hello, "peer_verified")],
    ["card", field(hello, "card_url")],
    ["endpoint", field(hello, "endpoint")],
    ["keys", toList(field(hello, "keys"), toKeyText)],
    ["methods", toList(field(hello, "methods"), String)],
    ["policy", field(hello, "policy_digest")],
    ["takes", [field(x402, "asset"), toList(field(x402, "networks"), String)].filter(Boolean).join(" on ")],
  ];
  return rows
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `${name.padEnd(12)} ${printable(String(value))}`)
    .join("\n");
}

/** Why the agent refused the request. */
export function toRefusalText(url: string, { status, json }: SellerResponse): string {
  const error = field(json, "error");
  const message = textField(error, "message");
  const said = message === undefined ? "with nothing that can be read" : `${field(error, "code")}: ${message}`;
  return printable(`${url} answered ${status}, ${said}`);
}

const toList = (value: unknown, toText: (item: unknown) => string): string | undefined =>
  Array.isArray(value) ? value.map(toText).join(", ") : undefined;

const toKeyText = (key: unknown): string => `${field(key, "key_id")} (${field(key, "status") ?? "active"})`;
