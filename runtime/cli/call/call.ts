import type { PaymentRequired, SettleResponse } from "@x402/core/types";
import { Problem } from "../../api/problem.ts";
import type { Config } from "../config/config.ts";
import { EXIT, exitCodeOf } from "../exit-code.ts";
import { printable, printableLines, toPrintableJson } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { openPayer } from "./buyer-payer.ts";
import { openWallet } from "./buyer-wallet.ts";
import { explainEnd, follow, toStatusUrl } from "./follow.ts";
import { ask, CALL_MS, type SellerResponse, textField, toExactJson } from "./http.ts";
import { nameIn } from "./identifier.ts";
import { checkInput } from "./input-check.ts";
import { checkLimits, chooseOffer, readChallenge, type SpendingLimits, toOffers } from "./offers.ts";
import { dropPending, findPending, keepPending, loadPending, type Pending } from "./pending.ts";
import { loadRails } from "./rails-file.ts";
import { receiptIn } from "./receipt.ts";
import { isPaidBack, isSellers, sendPaid } from "./send.ts";
import { findTarget, readInputArgument, type Target } from "./target.ts";
import * as texts from "./text.ts";

/** The command line of `payphone call`. */
export interface CallOptions {
  /** An id, a path or a URL; undefined with `resume`. */
  readonly service: string | undefined;
  /** JSON, `@file` or `-`. */
  readonly input: string | undefined;
  readonly url?: string | undefined;
  readonly method?: string | undefined;
  readonly rail?: string | undefined;
  readonly limits: SpendingLimits;
  /** Whether the input is checked against the challenge's schema before signing; true by default. */
  readonly check?: boolean;
  /** False when the seller is none, whatever it says; by default it is asked. */
  readonly sandbox?: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
  /** Whether to wait for the end of an accepted job. */
  readonly follow: boolean;
  /** How long that may take; when omitted, until the job has ended. */
  readonly followSeconds?: number | undefined;
  readonly waitSeconds: number;
  /** The file of an earlier payment whose outcome is unknown. */
  readonly resume: string | undefined;
  /** The buyer's own name for the purchase; a random one by default. */
  readonly identifier?: string | undefined;
  /** Its `manifests/_site.yaml` names the rails to pay on. */
  readonly dir: string;
}

/** What `--json` prints. */
interface Report {
  request?: { readonly method: string; readonly url: string };
  offers?: readonly Readonly<Record<string, unknown>>[];
  payment?: Pending["note"];
  receipt?: Readonly<Record<string, unknown>>;
  result?: unknown;
  /** The job's last status. */
  job?: unknown;
  error?: Readonly<Record<string, unknown>>;
  resume?: string;
  elapsed_ms?: number;
}

/** Buys one call and prints its price before paying. Failures are printed. Gives the exit code. */
export async function runCall(config: Config, options: CallOptions, terminal: Terminal): Promise<number> {
  const report: Report = {};
  const started = performance.now();
  const code = await attempt(
    async () => {
      await buyOrResume(config, options, terminal, report);
      await followJob(options, terminal, report);
    },
    terminal,
    report,
  );
  report.elapsed_ms = Math.round(performance.now() - started);
  if (options.json) terminal.out(toPrintableJson(report));
  return code;
}

async function attempt(run: () => Promise<void>, { err, signal }: Terminal, report: Report): Promise<number> {
  try {
    await run();
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof Problem) && !signal.aborted) throw error;
    const problem = error instanceof Problem ? error : new Problem("unavailable", toInterruption(report));
    report.error = { code: problem.code, message: problem.message, ...problem.options.members };
    err(printableLines(`payphone: ${problem.message}`));
    if (report.resume) err(`Ask again with the same payment: payphone call --resume ${report.resume}`);
    if (report.resume && report.payment?.identifier) err(texts.toResumeText(report.payment));
    return exitCodeOf(problem.code);
  }
}

/** The notice for an interruption while a job is followed: the payment stays made. */
function toInterruption({ request, payment, result }: Report): string {
  if (result === undefined) return "interrupted: nothing was paid";
  const how = payment ? "it is paid for, and goes on" : "it goes on";
  return printable(`interrupted: ${how}; ${textField(result, "status_url") ?? request?.url} shows how it stands`);
}

async function buyOrResume(config: Config, options: CallOptions, terminal: Terminal, report: Report): Promise<void> {
  if (options.resume) return resume(options.resume, options, terminal, report);
  const input = await readInputArgument(options.input, terminal.signal);
  const base = options.url ?? config.sellerUrl;
  const { service = "", method } = options;
  const mayBeSandbox = options.sandbox ?? true;
  const target = await findTarget(service, { base, mayBeSandbox, method, input, signal: terminal.signal });
  report.request = { method: target.request.method, url: target.request.url };
  terminal.err(printable(`${target.request.method} ${target.request.url}`));
  const named = options.dryRun ? undefined : options.identifier;
  const kept = named === undefined ? undefined : await findPending(named, target.request);
  if (kept) terminal.err(texts.toKeptText(kept));
  if (kept?.isUsable) return resume(kept.file, options, terminal, report);
  const first = await ask(target.request, { signal: terminal.signal, timeoutMs: CALL_MS });
  if (isResult(first)) return deliver(first, options, terminal, report);
  if (first.status !== 402) throw toSellerProblem(first, true);
  const asksForThePrice = options.dryRun && options.input === undefined;
  if ((options.check ?? true) && !asksForThePrice) checkInput(target, first);
  const pending = await prepare(config, options, terminal, { report, target, challenge: readChallenge(first) });
  if (pending === undefined) return;
  report.resume = await keepPending(pending);
  await finish(pending, options, terminal, report);
}

/** Sends the payment in a file again. */
async function resume(file: string, options: CallOptions, terminal: Terminal, report: Report): Promise<void> {
  if (options.dryRun)
    throw new Problem("bad-request", "--resume sends the payment again, and a dry run sends none: leave one out");
  const pending = await loadPending(file);
  report.request = { method: pending.request.method, url: pending.request.url };
  report.resume = file;
  return finish(pending, { ...options, resume: file }, terminal, report);
}

/** Shows the challenge and signs the payment of one offer; undefined on a dry run. */
async function prepare(
  config: Config,
  options: CallOptions,
  terminal: Terminal,
  { report, target, challenge }: { report: Report; target: Target; challenge: PaymentRequired },
): Promise<Pending | undefined> {
  const { offers, others } = toOffers(challenge, await loadRails(options.dir));
  report.offers = offers.map(({ rail, amount, requirements }) => ({
    rail: rail.id,
    price: amount,
    symbol: rail.symbol,
    ...requirements,
  }));
  terminal.err(texts.toChallengeText(challenge, { offers, others }));
  if (options.dryRun) {
    terminal.err("Dry run: nothing was paid.");
    return undefined;
  }
  const wallet = await openWallet(
    config,
    { base: target.base, mayBeSandbox: options.sandbox ?? true },
    terminal.signal,
  );
  const offer = chooseOffer(offers, { rail: options.rail, hasKey: (rail) => wallet.key(rail) !== undefined });
  checkLimits(offer, { offers, catalogueUsd: target.priceUsd, limits: options.limits });
  const payer = await openPayer(wallet, offer);
  const { id, title, symbol, explorer } = offer.rail;
  const { challenge: named, identifier } = nameIn(challenge, options.identifier);
  const note = {
    rail: id,
    title,
    symbol,
    explorer,
    amount: offer.amount,
    payer: payer.address,
    wallet: wallet.origin,
    ...(identifier !== undefined && { identifier }),
  };
  report.payment = note;
  terminal.err(texts.toPayingText(note, offer.requirements.payTo, options.identifier !== undefined));
  const { network, maxTimeoutSeconds } = offer.requirements;
  const payment = await payer.sign(named);
  return { request: target.request, payment, network, until: Date.now() + maxTimeoutSeconds * 1000, note };
}

/** Sends the payment until the answer is final. Its file is deleted after a result, a refund, or an uncharged first refusal. */
async function finish(pending: Pending, options: CallOptions, terminal: Terminal, report: Report): Promise<void> {
  const started = performance.now();
  const { note } = pending;
  report.payment = note;
  const { answer, isFirst } = await sendPaid(pending, {
    waitMs: options.waitSeconds * 1000,
    isNew: options.resume === undefined,
    signal: terminal.signal,
    onWait: (why, seconds) =>
      terminal.err(printable(`No result yet (${why}). The same payment is sent again in ${seconds} s.`)),
  });
  const receipt = receiptIn(answer);
  if (receipt) {
    report.receipt = { ...receipt, explorer_url: texts.toLink(pending, receipt) ?? null };
  }
  const isRefused = isFirst && options.resume === undefined && isSellers(answer) && !receipt?.success;
  const isBought = isResult(answer) && (answer.text !== "" || receipt !== undefined); // An empty 202 or 204 may be a gateway's.
  const isOver = isBought || isPaidBack(answer) || isRefused;
  if (report.resume && isOver) {
    await dropPending(report.resume);
    delete report.resume;
  }
  if (isBought) deliver(answer, options, terminal, report);
  const [ms, isOwnName] = [performance.now() - started, options.identifier !== undefined];
  if (receipt?.success ?? isBought) terminal.err(texts.toReceiptText(pending, receipt, { ms, isOwnName }));
  else terminal.err(report.resume ? texts.TAKEN_PERHAPS : texts.toUnpaidText(receipt, isOwnName));
  if (!isBought) throw toSellerProblem(answer, !report.resume, receipt);
}

/** Waits for the job when the result is an accepted job and the buyer wants to wait. */
async function followJob(options: CallOptions, terminal: Terminal, report: Report): Promise<void> {
  const { follow: isFollowed, followSeconds, json } = options;
  const statusUrl = toStatusUrl(report.result, report, isFollowed);
  const elsewhere = statusUrl ? undefined : textField(report.result, "status_url");
  if (isFollowed && elsewhere) terminal.err(texts.toUnfollowedText(elsewhere));
  if (!statusUrl) return;
  if (!isFollowed)
    return terminal.err(`A job: --follow waits for it; ${statusUrl} shows how it stands, free of charge.`);
  terminal.err(`Following ${statusUrl}`);
  const { err: onStep, signal } = terminal;
  report.job = await follow(statusUrl, { onStep, signal, mostSeconds: followSeconds });
  if (!json) terminal.out(toPrintableJson(report.job));
  const complaint = explainEnd(report.job, statusUrl);
  if (complaint !== undefined) throw new Problem("upstream-failed", complaint);
}

const isResult = ({ status }: SellerResponse): boolean => status < 300;

/** Prints the result. The output of a followed job is its last status. */
function deliver(answer: SellerResponse, options: CallOptions, { out, err }: Terminal, report: Report): void {
  const json = toExactJson(answer);
  report.result = json ?? answer.text;
  const isFollowed = options.follow && toStatusUrl(json, report, true) !== undefined;
  if (!options.json) (isFollowed ? err : out)(texts.toShownResult(json, answer.text));
}

/** The error for an answer without a result. @param isUnpaid whether nothing can have been paid for it */
function toSellerProblem(answer: SellerResponse, isUnpaid: boolean, receipt?: SettleResponse): Problem {
  const { status, json, text } = answer;
  const code = status === 422 && isUnpaid ? "invalid-input" : "upstream-failed";
  return new Problem(code, texts.toFailureText(answer, receipt), {
    members: { status, answer: json ?? text },
  });
}
