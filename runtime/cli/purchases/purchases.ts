import { Problem } from "../../api/problem.ts";
import { railOfToken } from "../../core/rails/tokens.ts";
import { isEvm, type RailManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import { toUint256 } from "../../core/x402/eip3009.ts";
import { openWallet } from "../call/buyer-wallet.ts";
import { field, type SellerResponse, textField, toExactJson } from "../call/http.ts";
import { toVariables } from "../call/offers.ts";
import { loadRails } from "../call/rails-file.ts";
import { toFailureText } from "../call/text.ts";
import { toColumns } from "../columns.ts";
import type { Config } from "../config/config.ts";
import { EXIT } from "../exit-code.ts";
import { printable, toPrintableJson } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { askSignedIn } from "./sign-in.ts";

/** The command line of `payphone purchases`. */
export interface PurchasesOptions {
  /** One purchase; when undefined, all are listed. */
  readonly id: string | undefined;
  readonly url: string | undefined;
  readonly rail: string | undefined;
  readonly json: boolean;
  /** False when the seller is none, whatever it says; by default it is asked. */
  readonly sandbox?: boolean;
  /** Its `manifests/_site.yaml` names the rails. */
  readonly dir: string;
}

/** Signs in with the buyer's keys and prints their purchases. Returns the exit code. @throws Problem. */
export async function runPurchases(config: Config, options: PurchasesOptions, terminal: Terminal): Promise<number> {
  const { id, json } = options;
  const base = options.url ?? config.sellerUrl;
  const rails = await loadRails(options.dir);
  const ids = rails.map((rail) => rail.id);
  if (options.rail !== undefined && !ids.includes(options.rail))
    throw new Problem("bad-request", `there is no rail ${options.rail}; use --rail ${ids.join(" or --rail ")}`);
  const wallet = await openWallet(config, { base, mayBeSandbox: options.sandbox ?? true }, terminal.signal);
  const wanted = rails.filter((rail) => (options.rail ?? rail.id) === rail.id);
  const own = wanted.filter((rail) => wallet.key(rail) !== undefined);
  // One request for each key: an EVM key's purchases on all EVM rails come in one answer.
  const keys = [own.filter(isEvm), own.filter((rail) => !isEvm(rail))].flatMap((of) =>
    of[0] ? [{ rails: of, secret: wallet.key(of[0]) as string }] : [],
  );
  if (keys.length === 0)
    throw new Problem("payment-required", `there is no wallet to sign in with: set ${toVariables(wanted)}`);
  const path = id === undefined ? `/v1/purchases?limit=${MOST_LISTED}` : `/v1/purchases/${encodeURIComponent(id)}`;
  const asked = await Promise.all(keys.map((key) => askSignedIn(base + path, key, terminal.signal)));
  const answers = asked.filter((answer) => answer !== undefined);
  const [first] = answers;
  if (!first)
    throw new Problem(
      "upstream-failed",
      `the seller lets no wallet of ${own.map(({ network }) => network).join(", ")} sign in`,
    );
  if (id !== undefined) return showOne(answers.find(({ status }) => status === 200) ?? first, terminal);
  const lists = answers.map(listOf);
  const found = lists.flat();
  if (json) terminal.out(toPrintableJson(found));
  else terminal.out(found.length === 0 ? "nothing was bought in these days" : toTable(found, rails));
  for (const list of lists) if (list.length === MOST_LISTED) terminal.err(toOlder(list.at(-1)));
  return EXIT.ok;
}

function showOne(answer: SellerResponse, { out }: Terminal): number {
  if (answer.status !== 200) throw new Problem("upstream-failed", toFailureText(answer));
  out(toPrintableJson(toExactJson(answer)));
  return EXIT.ok;
}

/** How many purchases a seller lists for a key. */
const MOST_LISTED = 50;

/** Where the purchases are that a full list omits: ids are `<day>-<number>-<account>`, and count up. */
const toOlder = (oldest: unknown): string =>
  `The newest ${MOST_LISTED} are listed. Older ones have lower numbers than ${printable(textField(oldest, "id") ?? "-")} in the middle: payphone purchases <id>`;

function listOf(answer: SellerResponse): readonly unknown[] {
  if (answer.status === 404) throw new Problem("not-found", "this seller has no list of purchases (GET /v1/purchases)");
  const purchases = field(answer.json, "purchases");
  if (answer.status !== 200 || !Array.isArray(purchases)) throw new Problem("upstream-failed", toFailureText(answer));
  return purchases;
}

function toTable(purchases: readonly unknown[], rails: readonly RailManifest[]): string {
  const rows = purchases.map((purchase) => {
    const [id, service, at, state, network, transaction] = [
      "id",
      "service",
      "bought_at",
      "state",
      "network",
      "transaction",
    ].map((name) => textField(purchase, name) ?? "-");
    const rail = railOfToken(rails, { network: network ?? "", asset: textField(purchase, "asset") ?? "" });
    const amount = textField(purchase, "amount");
    const price =
      rail && amount && toUint256(amount) === amount
        ? `${toDecimal(BigInt(amount), rail.decimals)} ${rail.symbol}`
        : "-";
    return [id, service, at, state, price, transaction].map((cell) => printable(cell ?? "-"));
  });
  return toColumns([["id", "service", "bought at", "state", "price", "transaction"], ...rows]).join("\n");
}
