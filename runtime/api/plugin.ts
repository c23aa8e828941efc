/** The plugin contract: the only runtime module that a plugin may import (as "#plugin"). */
import type {
  Anchor,
  Cache,
  Clock,
  Evm,
  Llm,
  Log,
  Schedule,
  SiteInfo,
  Treasury,
  Upstream,
  Web,
} from "./capabilities.ts";
import type { Purchases } from "./purchases.ts";
import type { Reports } from "./reports.ts";

export type {
  Anchor,
  AnchorReceipt,
  Cache,
  Cached,
  ChainAnchor,
  Clock,
  Evm,
  EvmTransaction,
  Hex,
  Llm,
  LlmRequest,
  Log,
  RpcAnswer,
  Schedule,
  SiteInfo,
  Treasury,
  Upstream,
  UpstreamAnswer,
  UpstreamRequest,
  UpstreamStream,
  Web,
  WebAnswer,
  WebRequest,
} from "./capabilities.ts";
export { Problem, type ProblemCode, toValueError, type ValidationIssue } from "./problem.ts";
export type { BoughtCall, Purchases } from "./purchases.ts";
export type { ReportFigure, ReportFile, ReportPage, ReportResult, Reports } from "./reports.ts";
export { checkSaid, isBlank } from "./text.ts";

/** What the runtime lends to a plugin at its setup. */
export interface Host {
  readonly anchor: Anchor;
  /** This plugin's own cache. */
  readonly cache: Cache;
  readonly clock: Clock;
  /** The variables that the manifests of this plugin name under `needs`, and no others. */
  readonly env: Readonly<Record<string, string>>;
  readonly evm: Evm;
  readonly llm: Llm;
  readonly log: Log;
  /** The purchases of wallets, for services with `sign_in: true`. */
  readonly purchases: Purchases;
  /** Publishes files for buyers. */
  readonly reports: Reports;
  readonly schedule: Schedule;
  readonly site: SiteInfo;
  readonly treasury: Treasury;
  /** The upstream with this id. @throws RangeError unless a manifest of this plugin names it under `upstreams`. */
  upstream(id: string): Upstream;
  /** Fetches from addresses that a caller or a foreign document has chosen. */
  readonly web: Web;
}

/** One call of a service, as its handler sees it. */
export interface Call {
  /** The request id; the log and problem documents show it, too. */
  readonly id: string;
  /** The id of the service that was called: a handler may be that of several manifests. */
  readonly service: string;
  /** Aborted at the service's deadline, or when the caller disconnects before the settlement. */
  readonly signal: AbortSignal;
  /**
   * The verified EVM address or Solana public key of the payer, or of the wallet that has signed in; undefined where there
   * is neither, or the payer is unknown.
   */
  readonly payer: string | undefined;
  /** The CAIP-2 network of the payment; undefined where nothing is paid. */
  readonly network: string | undefined;
  /** The accounts of the wallet that has signed in, as `<CAIP-2>:<address>`; only with `sign_in: true`. */
  readonly accounts?: readonly string[];
  /**
   * Runs a part of the work under a unique name. In a job its JSON result is stored, and a job that resumes after a
   * crash gets the stored result instead of repeating the work. A second step with the same name fails, unless the first
   * one has failed. In a request the work just runs. The job's status shows the name, unless `report` was called
   * directly before.
   */
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Sets the progress text that the job's status shows, a few words. In a request it has no effect. */
  report(progress: string): void;
}

/** The work of one service: returns JSON data or throws a Problem. */
export type Run<Input, Output> = (input: Input, call: Call) => Output | Promise<Output>;

/** One service's code: a function, or the function together with rules that the input schema cannot express. */
export type Handler<Input, Output> = Run<Input, Output> | HandlerParts<Input, Output>;

/** A handler with checks of its own. */
export interface HandlerParts<Input, Output> {
  /**
   * Pure, fast and not async; runs before the facilitator is asked. Throws Problem `invalid-input` with its issues. Also sees
   * values of the right type that break a bound of the schema, since all faults are named at once.
   */
  readonly check?: (input: Input) => void;
  /**
   * Only for work that is paid first (`charge: first`, jobs): runs before the money moves. Throws Problem `unavailable`
   * when the work would fail now; nobody is charged then.
   */
  readonly ready?: (input: Input, signal: AbortSignal) => void | Promise<void>;
  readonly run: Run<Input, Output>;
}

/** A handler as the runtime sees it: its types were checked when its plugin was compiled. */
export type AnyHandler = Handler<never, unknown>;

/**
 * The input and output types of each plugin's handlers. The generated file (`npm run types`) fills this interface by
 * declaration merging, so that the runtime compiles without any plugin.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface Plugins {}

/** The handlers that the manifests require from one plugin. */
export type HandlersOf<Name extends keyof Plugins> = {
  readonly [Key in keyof Plugins[Name]]: Plugins[Name][Key] extends { input: infer Input; output: infer Output }
    ? Handler<Input, Output>
    : never;
};

/**
 * A plugin: its name, equal to its file's name, and a function that makes its handlers from the Host. Take what a
 * handler needs from the Host during setup: `payphone serve` requires the treasury's keys only if `anchor` or
 * `treasury` is taken. Handlers that no manifest names are not read, so that what a getter takes is required only when
 * its handler is sold.
 */
export interface Plugin<Handlers = Readonly<Record<string, AnyHandler>>> {
  readonly name: string;
  readonly setup: (host: Host) => Handlers | Promise<Handlers>;
}

/** Declares a plugin. Inputs and outputs need no annotation: `name` selects them in the generated types. */
export function definePlugin<Name extends keyof Plugins & string>(
  name: Name,
  setup: (host: Host) => HandlersOf<Name> | Promise<HandlersOf<Name>>,
): Plugin<HandlersOf<Name>> {
  return { name, setup };
}
