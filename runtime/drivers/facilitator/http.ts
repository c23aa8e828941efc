import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { isObject, tryParseJson } from "../../core/json.ts";
import { hasForeignFeePayer } from "../../core/x402/failed-settlement.ts";
import type {
  Facilitator,
  PaymentPayload,
  PaymentRequirements,
  SettleResponse,
  SupportedKind,
  VerifyResponse,
} from "../../core/x402/x402.ts";
import { isConnectionBroken } from "../http/broken-connection.ts";
import { toEndpoint } from "../http/endpoint.ts";
import { repeat } from "../http/retry.ts";
import { MALFORMED, readSignature } from "./deployment.ts";
import { exchange, type WholeAnswer } from "./exchange.ts";
import { toOutage } from "./outage.ts";

type Action = "supported" | "verify" | "settle";

export interface HttpFacilitatorOptions {
  /**
   * The base URL; `/verify`, `/settle` and `/supported` are appended. A name and a password in it become a basic
   * authorization header.
   */
  readonly url: string;
  /** Makes the authentication headers of one request: constant ones, or newly signed ones. */
  readonly headers?: (action: Action) => Promise<Readonly<Record<string, string>>>;
}

/** A facilitator with open connections, which must be closed. */
export interface HttpFacilitator extends Facilitator {
  close(): Promise<void>;
}

const MAX_BYTES = 256 * 1024;
const CONNECTIONS = 64;

/**
 * A facilitator over HTTP (x402-specification-v2, section 7), on one pool of kept-alive connections.
 * A malformed answer is an outage, never a verdict.
 */
export function createHttpFacilitator({ url, headers }: HttpFacilitatorOptions): HttpFacilitator {
  const { url: base, headers: basic } = toEndpoint(url);
  const prefix = base.pathname.replace(/\/$/, "");
  let opened: Promise<Dispatcher> | undefined;
  const listeners: (() => void)[] = [];
  /** By network. */
  const feePayers = new Map<string, unknown>();
  /** By how much this machine's clock is ahead of the facilitator's. */
  let aheadMs = 0;

  /** Keeps the fee payer that was named before while it is a signer: some facilitators name any of many each time. */
  const withFeePayer = (kind: SupportedKind, signers: unknown): SupportedKind => {
    if (kind.extra?.feePayer === undefined) return kind;
    const known = feePayers.get(kind.network);
    const isSigner =
      isObject(signers) && Object.values(signers).some((all) => Array.isArray(all) && all.includes(known));
    const feePayer = isSigner ? known : kind.extra.feePayer;
    feePayers.set(kind.network, feePayer);
    return { ...kind, extra: { ...kind.extra, feePayer } };
  };

  return {
    async supported(signal) {
      const { status, body, headers: received } = await sendTwice("supported", undefined, signal);
      aheadMs = toAhead(received);
      if (status !== 200 || !isObject(body) || !Array.isArray(body.kinds)) throw nonsense("supported", status);
      return body.kinds.filter(isKind).map((kind) => withFeePayer(withoutNull(kind), body.signers));
    },
    async verify(payment, offer, signal) {
      if (await isMalformed(payment))
        return { isValid: false, invalidReason: MALFORMED.reason, invalidMessage: MALFORMED.message };
      const { status, body } = await sendTwice("verify", toText(payment, offer), signal);
      // Some facilitators answer a refusal with a 4xx status and the usual body.
      if (status >= 500 || !isVerdict(body) || (body.isValid && status !== 200)) throw nonsense("verify", status);
      const { network, extra } = offer;
      const isCurrent = extra.feePayer !== undefined && feePayers.get(network) === extra.feePayer;
      if (!body.isValid && isCurrent && hasForeignFeePayer(body.invalidReason)) {
        feePayers.delete(network);
        for (const listener of listeners) listener();
      }
      const { payer, ...verdict } = withoutObjects(body);
      return { ...verdict, ...(payer && { payer }) }; // Some write an empty text for an unknown payer.
    },
    async settle(payment, offer, signal) {
      try {
        return await settle(payment, offer, signal);
      } catch (outage) {
        if (!whenBroken(signal)(outage)) throw outage;
        const again = await settle(payment, offer, signal).catch(() => undefined);
        if (!again?.success) throw outage; // A refusal proves nothing: it may have settled the first time.
        return again;
      }
    },
    watch: (listener) => void listeners.push(listener),
    warnings: async () => explainClock(aheadMs),
    async close() {
      await (await opened)?.close();
    },
  };

  async function settle(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    signal: AbortSignal,
  ): Promise<SettleResponse> {
    const { status, body } = await send("settle", toText(payment, offer), signal);
    if (status >= 500 || !isSettlement(body) || (body.success && status !== 200)) throw nonsense("settle", status);
    const said = withoutObjects(body);
    const network = said.success ? said.network : said.network || undefined;
    return { ...said, transaction: said.transaction ?? "", network: network ?? offer.network };
  }

  /** Sends once more after a broken connection: for requests that may be repeated. */
  function sendTwice(action: Action, body: string | undefined, signal: AbortSignal): ReturnType<typeof send> {
    return repeat(() => send(action, body, signal), whenBroken(signal), { retries: 1, delayMs: 0 });
  }

  function open(): Promise<Dispatcher> {
    const pool = openPool(base.origin);
    pool.catch(() => renew(pool));
    return pool;
  }

  /** Replaces the pool: its other connections are as old as the one that broke. */
  function renew(pool: Promise<Dispatcher>): void {
    if (opened === pool) opened = undefined;
    void pool.then((old) => old.close()).catch(() => {}); // Closes when its running requests are answered.
  }

  async function send(
    action: Action,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<WholeAnswer & { readonly body: unknown }> {
    let pool: typeof opened;
    try {
      const path = `${prefix}/${action}${base.search}`;
      const sent = body === undefined ? ACCEPTING : SENDING;
      const all = { ...sent, ...basic, ...(await headers?.(action)) };
      const method = body === undefined ? "GET" : "POST";
      const bounds = { signal, maxBytes: MAX_BYTES, tooLarge };
      pool = opened ??= open(); // Read last, since the pool may be replaced during the waits above.
      const answer = await exchange(await pool, { path, method, headers: all, body: body ?? null }, bounds);
      return { ...answer, body: tryParseJson(answer.text) };
    } catch (cause) {
      if (isConnectionBroken(cause) && pool) renew(pool);
      throw cause instanceof Problem ? cause : toOutage(`The facilitator did not answer to ${action}`, cause);
    }
  }
}

/** Recognizes an outage by a broken connection, while the caller still waits. */
const whenBroken =
  (signal: AbortSignal) =>
  (outage: unknown): boolean =>
    !signal.aborted && isConnectionBroken((outage as Error).cause);

/** x402's library fails at such a signature with a status 500: anybody could make a facilitator look as if it were down. */
async function isMalformed({ payload: { signature } }: PaymentPayload): Promise<boolean> {
  const isWrapped = typeof signature === "string" && signature.endsWith("6492"); // Others need no library.
  return isWrapped && (await readSignature(signature as Hex)) === undefined;
}

/** Authorizations are valid for minutes: a clock that is off by less does no harm. */
const CLOCK_MS = 60_000;

/** 0 where the answer does not tell: without a date, or from a cache (RFC 9111, `Age`). */
function toAhead({ date, age }: IncomingHttpHeaders): number {
  const at = date === undefined || age !== undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(at) ? 0 : Date.now() - at;
}

function explainClock(aheadMs: number): string[] {
  if (Math.abs(aheadMs) < CLOCK_MS) return [];
  const off = `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? "fast" : "slow"}`;
  return [
    `This machine's clock is ${off} by a facilitator's: good payments may be refused as expired or not yet valid`,
  ];
}

const ACCEPTING = { accept: "application/json" };
const SENDING = { ...ACCEPTING, "content-type": "application/json" };

/** Request bodies by payment, since verification and settlement send the same one. */
const texts = new WeakMap<PaymentPayload, { readonly offer: PaymentRequirements; readonly text: string }>();

/** The body of a request about a payment. */
function toText(payment: PaymentPayload, offer: PaymentRequirements): string {
  const known = texts.get(payment);
  if (known?.offer === offer) return known.text;
  const text = JSON.stringify({ x402Version: 2, paymentPayload: payment, paymentRequirements: offer });
  texts.set(payment, { offer, text });
  return text;
}

async function openPool(origin: string): Promise<Dispatcher> {
  const { Pool } = await import("undici");
  return new Pool(origin, { connections: CONNECTIONS, keepAliveTimeout: 30_000, connect: { timeout: 3000 } });
}

const tooLarge = (): Problem => toOutage(`The facilitator's answer is larger than ${MAX_BYTES} bytes`);

const nonsense = (action: Action, status: number): Problem =>
  toOutage(
    status === 401 || status === 403
      ? `The facilitator does not accept our credentials for ${action} (status ${status})`
      : `The facilitator's answer to ${action} (status ${status}) is malformed`,
  );

const isText = (value: unknown): boolean => typeof value === "string";

const isOptionalText = (value: unknown): boolean => value === undefined || value === null || isText(value);

const isKind = (value: unknown): value is SupportedKind =>
  isObject(value) && typeof value.scheme === "string" && typeof value.network === "string";

/** Some write null for "none". */
const withoutNull = ({ extra, ...kind }: SupportedKind): SupportedKind => ({ ...kind, ...(extra && { extra }) });

const isVerdict = (value: unknown): value is VerifyResponse =>
  isObject(value) &&
  typeof value.isValid === "boolean" &&
  isOptionalText(value.invalidReason) &&
  isOptionalText(value.payer);

/** Some write null, or a mapping, in the place of a text, such as a message. */
const withoutObjects = <T extends object>(body: T): T =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => typeof value !== "object")) as T;

/** Some name neither transaction nor network in a refusal, or with empty texts. */
const isSettlement = (value: unknown): value is GivenSettlement =>
  isObject(value) &&
  typeof value.success === "boolean" &&
  [value.transaction, value.network].every(value.success ? isText : isOptionalText) &&
  isOptionalText(value.errorReason);

type GivenSettlement = Omit<SettleResponse, "transaction" | "network"> & {
  readonly transaction?: string | null;
  readonly network?: string | null;
};
