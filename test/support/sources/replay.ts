import { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import nock from "nock";
import { toRecordedAnswer } from "../../../runtime/sandbox/recordings/answer.ts";
import { fitsBody, fitsPath, isRpcCall, methodOf, toPathBelow } from "../../../runtime/sandbox/recordings/match.ts";
import { loadRecordings, type RecordedExchange } from "../../../runtime/sandbox/recordings/recordings.ts";

const ROOT = join(import.meta.dirname, "../../..");

nock.restore(); // Importing nock intercepts the network of every test.

/** A recording that replaces its upstream. */
export interface Replay {
  /** The exchanges that were used, in order. */
  readonly asked: readonly { readonly case: string; readonly headers: Headers; readonly body: unknown }[];
  /** Fails when an exchange was not used. */
  assertDone(): void;
}

/**
 * Lets nock answer from a recording, each chosen exchange once. When several match a request, they answer in the order
 * of `cases`: first a failure, for example, and then the success of its retry.
 * @param file relative to the repository: `plugins/price/recordings/coingecko/simple-price.json`.
 * @param cases `success` chooses `success` and every `success:…`; `success:contract` chooses that one alone.
 */
export const replay = (baseUrl: string, file: string, cases: readonly string[]): Replay =>
  intercept(nock(new URL(baseUrl).origin), baseUrl, choose(file, cases));

/** Like `replay`, but each exchange answers any number of times. @param onAsked is called with the case of each. */
export const replayAlways = (
  baseUrl: string,
  file: string,
  cases: readonly string[],
  onAsked?: (name: string) => void,
): Replay => intercept(nock(new URL(baseUrl).origin).persist(), baseUrl, choose(file, cases), onAsked);

/** To be called in a `describe`. Its tests reach only loopback and the recordings that they replay. */
export function offline(): void {
  let intercept: () => void;
  before(() => {
    const { connect } = Socket.prototype;
    nock.activate();
    nock.disableNetConnect();
    nock.enableNetConnect(LOOPBACK);
    intercept = passLoopback(connect);
  });
  afterEach(() => nock.cleanAll());
  after(() => {
    intercept();
    nock.enableNetConnect();
    nock.restore();
  });
}

const LOOPBACK = "127.0.0.1";

/**
 * Keeps nock out of connections to loopback: it takes more time for a request than client and server together.
 * @param direct connects without nock. @returns ends it.
 */
function passLoopback(direct: Socket["connect"]): () => void {
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
    const [options] = [args[0]].flat() as [{ host?: unknown }?]; // What net.connect has made of its arguments.
    return Reflect.apply(options?.host === LOOPBACK ? direct : connect, this, args);
  };
  return () => {
    Socket.prototype.connect = connect;
  };
}

function choose(file: string, cases: readonly string[]): RecordedExchange[] {
  const exchanges = loadRecordings(ROOT, [file]).flatMap((recording) => recording.exchanges);
  return cases.flatMap((wanted) => {
    const chosen = exchanges.filter((exchange) => exchange.case === wanted || exchange.case.startsWith(`${wanted}:`));
    expect(chosen, `${file} has no case ${wanted}`).not.to.deep.equal([]);
    return chosen;
  });
}

function intercept(
  scope: nock.Scope,
  baseUrl: string,
  exchanges: readonly RecordedExchange[],
  onAsked?: (name: string) => void,
): Replay {
  const asked: { case: string; headers: Headers; body: unknown }[] = [];
  for (const exchange of exchanges) {
    const { request } = exchange;
    const isPath = (path: string): boolean => {
      const below = toPathBelow(new URL(path, baseUrl), baseUrl);
      return below !== undefined && fitsPath(request, below);
    };
    scope
      .intercept(isPath, methodOf(request), (body: unknown) => fitsBody(request, body))
      .reply(async (sent: Request) => {
        const body: unknown = await sent.json().catch(() => undefined);
        asked.push({ case: exchange.case, headers: sent.headers, body });
        onAsked?.(exchange.case);
        const answer = toRecordedAnswer(exchange, isRpcCall(body) ? body.id : null);
        // Waits before the head, because undici fails when a replayed body is aborted half-way.
        await sleep(answer.delayMs, undefined, { ref: false });
        return [answer.status, answer.body, answer.headers];
      });
  }
  return { asked, assertDone: () => scope.done() };
}
