/** The plugin contract: the only runtime module that a plugin may import (as "#plugin"). */
import type {
  Anchor,
  Cache,
  Clock,
  Evm,
  Llm,
  Log,
  Reports,
  Schedule,
  SiteInfo,
  Treasury,
  Upstream,
  Web,
} from "./capabilities.ts";

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
  ReportFile,
  Reports,
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

/** What the runtime lends to a plugin, once, when it is set up. */
export interface Host {
  readonly anchor: Anchor;
  /** This plugin's own corner of the store. */
  readonly cache: Cache;
  readonly clock: Clock;
  /** Exactly the variables that the manifests of this plugin name under `needs`. */
  readonly env: Readonly<Record<string, string>>;
  readonly evm: Evm;
  readonly llm: Llm;
  readonly log: Log;
  /** Files for those who have paid for them. */
  readonly reports: Reports;
  readonly schedule: Schedule;
  readonly site: SiteInfo;
  readonly treasury: Treasury;
  /** The source of this id. @throws RangeError unless a manifest of this plugin names it under `upstreams`. */
  upstream(id: string): Upstream;
  /** For addresses that somebody else has chosen. */
  readonly web: Web;
}

/** What is known about one call. */
export interface Call {
  /** The request id, as in the log and in problem documents. */
  readonly id: string;
  /** Aborted at the service's deadline, or when the caller is gone before anything was settled. */
  readonly signal: AbortSignal;
  /** Who pays: the verified EVM address or Solana public key; undefined on a free route. */
  readonly payer: string | undefined;
  /** The CAIP-2 network that is paid on; undefined on a free route. */
  readonly network: string | undefined;
  /**
   * A part of the work, by a name of its own. In a job, what it gave (JSON) is kept: a job that goes on after a crash does
   * not do it again. In a request it is simply done.
   */
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Tells whoever polls the job what is being done, in a few words. In a request nobody is told. */
  report(progress: string): void;
}

/** The work of one service: it returns JSON data, or throws a Problem. */
export type Run<Input, Output> = (input: Input, call: Call) => Output | Promise<Output>;

/**
 * One service's code: its work alone, or with rules that its schema cannot express. `check` is pure and quick, is asked
 * before any facilitator is, and throws Problem `invalid-input` with its issues.
 */
export type Handler<Input, Output> =
  | Run<Input, Output>
  | { readonly check: (input: Input) => void; readonly run: Run<Input, Output> };

/** A handler whose types were checked when its plugin was compiled, as the runtime sees it. */
export type AnyHandler = Handler<never, unknown>;

/**
 * Each plugin's handlers with their input and output types. The generated file (`npm run types`) adds to this
 * interface by declaration merging, so that the runtime compiles with no plugin at all.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface Plugins {}

/** The handlers that the manifests ask of one plugin. */
export type HandlersOf<Name extends keyof Plugins> = {
  readonly [Key in keyof Plugins[Name]]: Plugins[Name][Key] extends { input: infer Input; output: infer Output }
    ? Handler<Input, Output>
    : never;
};

/** A plugin: its name (which is its file's name) and a function of the Host that makes its handlers. */
export interface Plugin<Handlers = Readonly<Record<string, AnyHandler>>> {
  readonly name: string;
  readonly setup: (host: Host) => Handlers | Promise<Handlers>;
}

/** Declares a plugin. Inputs and outputs need no annotation: they are looked up in the generated types by `name`. */
export function definePlugin<Name extends keyof Plugins & string>(
  name: Name,
  setup: (host: Host) => HandlersOf<Name> | Promise<HandlersOf<Name>>,
): Plugin<HandlersOf<Name>> {
  return { name, setup };
}
