import { styleText } from "node:util";
import { isSameToken } from "../../core/rails/tokens.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import { printable } from "../printable.ts";
import { toThrownAt } from "../set/plugins/faults.ts";

export interface EyesOptions {
  /** The rails, for the amounts of payments. */
  readonly rails: readonly Pick<RailManifest, "id" | "network" | "asset" | "decimals" | "symbol">[];
  /** Whether the terminal shows colours. */
  readonly hasColours: boolean;
  /** Prints one line, given without its line break. */
  readonly print: (line: string) => void;
}

type Fields = Readonly<Record<string, unknown>>;
type Style = Parameters<typeof styleText>[0];

/** Fields that are shown elsewhere in the line, or are of no use to a reader. */
const UNSHOWN = new Set(["level", "time", "event", "stack"]);
const EVENT_WIDTH = 24;

/**
 * Prints the log's lines of JSON for people: each call is one line with the amount paid. A path is its caller's text, and an
 * error may have its source's.
 */
export function createEyesLog({ rails, hasColours, print }: EyesOptions): { write(line: string): void } {
  const paint = (style: Style, text: string): string =>
    hasColours ? styleText(style, text, { validateStream: false }) : text;
  return {
    write(line) {
      const fields = JSON.parse(line) as Fields;
      const time = paint("dim", String(fields.time).slice(11, 19));
      print(`${time}  ${fields.event === "http.request" ? toCall(fields) : toEvent(fields)}`);
    },
  };

  function toCall({ method, path, service = "", status, ms, network, amount, asset, replay, code }: Fields): string {
    const what = `${String(method).padEnd(4)} ${printable(String(path)).padEnd(28)} ${String(service).padEnd(18)}`;
    const before = replay ? " (paid before)" : "";
    const paid =
      amount === undefined ? "" : paint("green", `  ${toPaid(`${network}`, `${amount}`, `${asset}`)}${before}`);
    const why = code === undefined ? "" : `  ${String(code)}`;
    return `${what} ${paint(styleOf(Number(status)), String(status))}${paid}${paint("dim", `  ${ms} ms${why}`)}`;
  }

  /** The token of a call that has failed is known only when the network has one rail. */
  function toPaid(network: string, amount: string, asset: string): string {
    const there = rails.filter((one) => one.network === network);
    const rail = there.length > 1 ? there.find((one) => isSameToken(one, { network, asset })) : there[0];
    if (!rail) return `${amount} units on ${network}`;
    return `${toDecimal(BigInt(amount), rail.decimals)} ${rail.symbol} ${rail.id}`;
  }

  function toEvent(fields: Fields): string {
    const { level, event } = fields;
    const style: Style = level === "error" ? "red" : level === "warn" ? "yellow" : "cyan";
    const rest = Object.entries(fields)
      .filter(([name]) => !UNSHOWN.has(name))
      .map(([name, value]) => `${name}=${printable(toValue(value))}`);
    return `${paint(style, String(event).padEnd(EVENT_WIDTH))} ${rest.join(" ")}`.trimEnd();
  }
}

/** Shows an error as its message, its cause, and where a plugin has thrown it by accident. */
function toValue(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const { name, message, cause, stack } = value as Fields;
  if (typeof message !== "string") return JSON.stringify(value);
  const at = name === "Problem" ? "" : toThrownAt(stack);
  return cause === undefined ? message + at : `${message} (${toValue(cause)})${at}`;
}

function styleOf(status: number): Style {
  if (status >= 500) return "red";
  if (status === 402) return "blue";
  return status >= 400 ? "yellow" : "green";
}
