/** The texts of `payphone peer`. Control characters from a peer are never printed. */
import { field, type SellerResponse, textField } from "../call/http.ts";
import { printable } from "../printable.ts";

/** One line for each fact about the agent that answered. What has another type than expected is left out. */
export function toHelloText(hello: unknown): string {
  const x402 = field(hello, "x402");
  const rows: [string, string | undefined][] = [
    ["agent", textField(hello, "agent")],
    ["knows us as", textField(hello, "peer_verified")],
    ["card", textField(hello, "card_url")],
    ["endpoint", textField(hello, "endpoint")],
    ["keys", toList(field(hello, "keys"), toKeyText)],
    ["methods", toList(field(hello, "methods"), toText)],
    ["policy", textField(hello, "policy_digest")],
    ["takes", [textField(x402, "asset"), toList(field(x402, "networks"), toText)].filter(Boolean).join(" on ")],
  ];
  const lines = rows.flatMap(([name, value]) => (value ? [`${name.padEnd(12)} ${printable(value)}`] : []));
  return lines.length > 0 ? lines.join("\n") : "It says nothing of what a greeting says; --json shows its answer";
}

/** Why the agent refused the request. */
export function toRefusalText(url: string, { status, json }: SellerResponse): string {
  const error = field(json, "error");
  const message = textField(error, "message");
  const code = field(error, "code");
  const prefix = typeof code === "number" ? `${code}: ` : "";
  const said = message === undefined ? "with nothing that can be read" : prefix + message.slice(0, 500);
  return printable(`${url} answered ${status}, ${said}`);
}

const toList = (value: unknown, toItem: (item: unknown) => string | undefined): string | undefined =>
  Array.isArray(value) ? value.map(toItem).filter(Boolean).join(", ") : undefined;

const toText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function toKeyText(key: unknown): string | undefined {
  const id = textField(key, "key_id");
  return id && `${id} (${textField(key, "status") ?? "active"})`;
}
