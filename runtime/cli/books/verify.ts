import { setTimeout } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import { withNoun } from "../../api/text.ts";
import { toAccount } from "../../core/account.ts";
import { type Audit, audit, type Transfer } from "../../core/books/audit.ts";
import type { BookLine, Books, Span } from "../../core/books/books.ts";
import { forgetBefore } from "../../core/books/keeping.ts";
import { isSameToken, type RailToken } from "../../core/rails/tokens.ts";
import { isEvm, type RailManifest } from "../../core/set/manifest.ts";
import type { Config } from "../config/config.ts";
import { base58Bytes } from "../config/values.ts";
import { printable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { openChains, type RailChain } from "./chains.ts";
import { toSigned } from "./groups.ts";
import { type BookPlace, withBooks } from "./place.ts";

/** The command line of `payphone books verify`. */
export interface VerifyCommand extends BookPlace {
  /** Unix milliseconds; default: the last day. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly rail?: string | undefined;
  readonly json: boolean;
  /** The URL of a running sandbox, which names its chains. */
  readonly url: string;
}

const DAY_MS = 24 * 60 * 60_000;
const PAGE = 2000;
const AGAIN_MS = 500;

/**
 * Compares the book with the chains, rail by rail. @returns whether they agree: not where a chain could not be read.
 * Transfers that are not x402 payments are printed, but are no difference. @throws Problem `bad-request`, `unavailable`.
 */
export function verifyBooks(
  config: Config,
  command: VerifyCommand,
  { out, err }: Pick<Terminal, "out" | "err">,
): Promise<boolean> {
  const { from: asked = Date.now() - DAY_MS, to = Date.now(), json, url } = command;
  if (asked >= to) {
    const alone = "Without --from the last 24 hours are compared: name a --from before --to";
    throw new Problem("bad-request", command.from === undefined ? alone : "--from must not be in the future");
  }
  return withBooks(config, command, async ({ books, site, sandboxDir }) => {
    const rails = site.rails.filter(({ id }) => command.rail === undefined || id === command.rail);
    if (rails.length === 0) {
      const ids = site.rails.map(({ id }) => id).join(", ");
      throw new Problem("bad-request", `The site has no rail "${command.rail}": it has ${ids}`);
    }
    const from = Math.max(asked, forgetBefore(site.books, Date.now()));
    if (from >= to) {
      const detail = `books.keep_days is ${site.books?.keep_days}: the book has nothing of this span any more`;
      throw new Problem("bad-request", detail);
    }
    if (from > asked) err(`books.keep_days is ${site.books?.keep_days}: earlier sales are not compared`);
    const chainOf = await openChains({ config, sandboxDir, url });
    // The chains of a sandbox are those of its present rails.
    const strange =
      sandboxDir === undefined && command.rail === undefined ? toStrange(books, site.rails, { from, to }) : [];
    for (const rail of strange)
      err(printable(`${rail}: not compared: the site has no rail of this token, and the book has sales`));
    let isClean = strange.length === 0;
    for (const rail of rails) {
      const span = { from, to };
      const seen = await verifyRail(books, rail, { ...chainOf(rail), span, err }).catch((error: unknown) =>
        toUnread(rail, error),
      );
      if (typeof seen === "string") {
        err(seen);
        isClean &&= seen.endsWith(NOTHING_SOLD);
        continue;
      }
      isClean &&= seen.missing.length + seen.altered.length + seen.unbooked.length === 0;
      out(json ? toJson(rail, seen) : toText(rail, seen));
    }
    return isClean;
  });
}

/** What the book has in a span, by rail and token. A line has the rail's id of its time, which may have changed since. */
const soldOn = (books: Books, span: Span): readonly (RailToken & { readonly rail: string })[] =>
  books.sums(span, { own: [], by: ["rail"] });

/** The rails of the book whose token no rail of the site has. */
function toStrange(books: Books, rails: readonly RailManifest[], span: Span): readonly string[] {
  const strange = soldOn(books, span).filter((sold) => !rails.some((rail) => isSameToken(rail, sold)));
  const found = strange.filter(({ rail, ...token }) =>
    [...linesOf(books, { ...span, rail })].some((line) => isSameToken(line, token)),
  );
  return [...new Set(found.map(({ rail }) => rail))];
}

const NOTHING_SOLD = "nothing was sold on it";

/** The other rails are compared all the same. @throws errors that are not the chain's. */
function toUnread({ id }: RailManifest, error: unknown): string {
  const { code, message } = Problem.from(error);
  if (code !== "upstream-failed") throw error;
  return `${id}: not compared: ${message}`;
}

/** The result, or a sentence why the rail could not be compared. */
async function verifyRail(
  books: Books,
  rail: RailManifest,
  { chain, receivers, span: wanted, err }: RailChain & { readonly span: Span } & Pick<Terminal, "err">,
): Promise<Audit | string> {
  const { id, rpc } = rail;
  const isOurs = (line: BookLine): boolean => isSameToken(line, rail);
  const names = new Set(soldOn(books, wanted).flatMap((sold) => (isSameToken(sold, rail) ? sold.rail : [])));
  const lines = [...names].flatMap((name) => [...linesOf(books, { ...wanted, rail: name })]).filter(isOurs);
  const toSold = ({ length }: readonly BookLine[]): string => (length > 0 ? "the book has sales" : NOTHING_SOLD);
  if (!chain) return `${id}: not compared, ${rpc} is not set; ${toSold(lines)}`;
  const begun = await chain.begin();
  const from = Math.max(wanted.from, begun);
  const inside = lines.filter(({ at }) => at >= from);
  if (inside.length < lines.length)
    err(`${id}: its chain began at ${new Date(begun).toISOString()}: earlier lines of the book are not compared`);
  const named = [...receivers, ...inside.flatMap(({ receiver }) => receiver ?? [])].map(toAccount);
  const all = new Set(named.filter((address) => isAddress(rail, address)));
  if (all.size === 0) return `${id}: not compared, no receiving address is known; ${toSold(inside)}`;
  const find = (transaction: string): BookLine[] =>
    books.find(transaction).filter((line) => isOurs(line) && line.transaction === transaction);
  const again = async (): Promise<void> => {
    await setTimeout(AGAIN_MS);
    await books.refresh();
  };
  const clock = { now: Date.now };
  const isDollar = rail.currency === "usd";
  const span = { from, to: wanted.to };
  return audit({ chain, receivers: [...all], span, isDollar, lines: inside, find, again, clock });
}

/** A line that was altered may have any text, which its chain could not be asked about. */
const isAddress = (rail: RailManifest, text: string): boolean =>
  isEvm(rail) ? /^0x[0-9a-f]{40}$/.test(text) : base58Bytes(text, 32) !== undefined;

function* linesOf(books: Books, filter: Span & { readonly rail: string }): Generator<BookLine> {
  for (let after: BookLine | undefined; ; ) {
    const page = books.lines(filter, { limit: PAGE, order: "oldest-first", after });
    yield* page;
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
}

const NAMES = { payer: "payer", receiver: "receiver", usd: "price in dollars" } as const;

function toText({ id, symbol, decimals }: RailManifest, { sales, booked, received, ...found }: Audit): string {
  const amount = (atomic: bigint): string => `${toSigned(atomic, decimals)} ${symbol}`;
  const show = (why: string, { transaction, from, to, amount: moved, at }: Transfer): string =>
    `  ${why}: ${amount(moved)} from ${from ?? "somebody"} to ${to} at ${new Date(at).toISOString()}, ${transaction}`;
  const lines = [
    `${id}: ${withNoun(sales, "sale")}, ${amount(booked)} in the book, ${amount(received)} of it on the chain`,
    ...found.missing.map(
      ({ transaction, booked: sum, shown, ids }) =>
        `  ${shown > sum ? "more on the chain" : "not on the chain"}: ${amount(sum)} in the book, ${amount(shown)} in ${transaction}: ${ids.join(", ")}`,
    ),
    ...found.altered.map(
      ({ id, transaction, what, booked: said, shown }) =>
        `  another ${NAMES[what]} in the book: ${said}, ${shown} in ${transaction}: ${id}`,
    ),
    ...found.unbooked.map((transfer) => show("not in the book", transfer)),
    ...found.others.map((transfer) => show("by other means", transfer)),
  ];
  return lines.map(printable).join("\n");
}

function toJson({ id, network, asset }: RailManifest, { missing, altered, unbooked, others, ...sums }: Audit): string {
  const value = { rail: id, network, asset, ...sums, missing, altered, not_in_book: unbooked, by_other_means: others };
  return JSON.stringify(value, (key, one: unknown) => {
    if (key === "signers") return undefined;
    if (typeof one === "bigint") return String(one);
    return key === "at" ? new Date(one as number).toISOString() : one;
  });
}
