import { randomBytes } from "node:crypto";
import autocannon, { type Request, type Result } from "autocannon";
import type { PaymentRequired } from "../../runtime/core/x402/x402.ts";
import { BODY, PATHS } from "./shop.ts";

/** What one server answered in one round. Latencies are milliseconds. */
export interface Sample {
  readonly calls: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

/** Makes as many requests as a round needs. They are built before the clock runs, for they cost more than answering them. */
export type Maker = (count: number) => Request[];

const CONNECTIONS = 32;
/** Who pays, in turn: more than are in flight at once, as many buyers are who do not wait for each other. */
const PAYERS = Array.from({ length: 64 }, (_, at) => `0x${(at + 1).toString(16).padStart(40, "1")}`);
const HEADERS = { "content-type": "application/json" };

/** Unpaid requests to all routes in turn. */
export const unpaid = async (): Promise<Maker> => (count) =>
  Array.from({ length: count }, (_, at) => ({ method: "POST", path: pathAt(at), headers: HEADERS, body: BODY }));

/** Paid requests to all routes in turn, each with a payment of its own that says, as payers do, what it was asked for. */
export async function paid(url: string): Promise<Maker> {
  const payers = await Promise.all(PATHS.map((path) => payer(url + path)));
  return (count) =>
    Array.from({ length: count }, (_, at) => {
      const headers = { ...HEADERS, "payment-signature": payers[at % PATHS.length]?.() ?? "" };
      return { method: "POST", path: pathAt(at), headers, body: BODY };
    });
}

/** Paid requests of one kind. */
export async function paidAlike(url: string, path: string, input: object): Promise<Maker> {
  const pay = await payer(url + path);
  const body = JSON.stringify(input);
  return (count) =>
    Array.from({ length: count }, () => {
      const headers = { ...HEADERS, "payment-signature": pay() };
      return { method: "POST", path, headers, body };
    });
}

/** Sends `amount` requests over a few connections. @throws Error when one is answered with any other status. */
export async function sample(url: string, make: Maker, amount: number, status: number): Promise<Sample> {
  const share = Math.ceil(amount / CONNECTIONS);
  let first = 0;
  let last = 0;
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const run = autocannon(
    {
      url,
      connections: CONNECTIONS,
      amount: share * CONNECTIONS,
      requests: make(1),
      setupClient: (client) => client.setRequests(make(share)),
    },
    (error: Error | null, result) => (error ? reject(error) : resolve(result)),
  );
  run.on("response", () => {
    last = performance.now();
    first ||= last;
  });
  const { statusCodeStats = {}, errors, latency } = await promise;
  const wrong = Object.keys(statusCodeStats).filter((code) => Number(code) !== status);
  if (wrong.length > 0 || errors > 0)
    throw new Error(`${url} answered ${wrong.join(", ")} instead of ${status}; ${errors} errors`);
  const calls = share * CONNECTIONS;
  return { calls, rate: (calls / (last - first)) * 1000, p50: latency.p50, p99: latency.p99 };
}

const pathAt = (at: number): string => PATHS[at % PATHS.length] as string;

/** Makes payments for what is sold at a URL, all of them good in the eyes of the stub. */
export async function payer(url: string): Promise<() => string> {
  const response = await fetch(url, { method: "POST", headers: HEADERS, body: BODY });
  await response.arrayBuffer();
  const challenge = Buffer.from(response.headers.get("payment-required") ?? "", "base64").toString();
  const { accepts, resource, extensions } = JSON.parse(challenge) as PaymentRequired;
  const [accepted] = accepts;
  const validBefore = String(Math.floor(Date.now() / 1000) + 3600);
  const signature = `0x${"ab".repeat(65)}`;
  let at = Math.floor(Math.random() * PAYERS.length);
  return () => {
    const from = PAYERS[at++ % PAYERS.length];
    const nonce = `0x${randomBytes(32).toString("hex")}`;
    const authorization = { from, to: accepted?.payTo, value: accepted?.amount, validAfter: "0", validBefore, nonce };
    const payment = { x402Version: 2, resource, accepted, payload: { signature, authorization }, extensions };
    return Buffer.from(JSON.stringify(payment)).toString("base64");
  };
}
