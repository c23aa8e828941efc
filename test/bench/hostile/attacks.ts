import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { toManyKeys } from "../../attacks/bodies/hostile-bodies.ts";
import { toPayments } from "../../attacks/support/whole-shop.ts";

/** What good buyers ask for; attacks use its path, too. */
export const GOOD = { path: "/v1/parse/datetime", body: { input: "tomorrow at noon" }, client: "192.0.2.1" };
const CONNECTIONS = 4;
const FAST_CONNECTIONS = 16;
const SLOW_CONNECTIONS = 1000;
const ATTACKER = "198.51.100.1";
/** 600 a minute. */
const HOSTILE_EVERY_MS = 100;

/** Services and bodies as large as they take, with a payment that fits its offer and is not signed. */
const KB = 1024;
const BODIES = [
  { title: "rolls of 64 KB", path: "/v1/roll", body: { low: 1, high: 6, unknown: toManyKeys(63 * KB) } },
  { title: "anchors of 128 KB", path: "/v1/anchor", body: { data: toManyKeys(127 * KB) } },
  { title: "texts of 640 KB", path: "/v1/tldr", body: { text: "a", ...toManyKeys(639 * KB) } },
  { title: "free checks of 64 KB", path: "/v1/attest/verify", body: { unknown: toManyKeys(63 * KB) } },
];

/** Goes on until told. @returns how many requests were refused with 429, or connections closed. */
type Attack = (target: Target, signal: AbortSignal) => Promise<number>;

interface Target {
  readonly url: string;
  /** The shop whose offers the payments fit. */
  readonly shop: string;
}

const ATTACKS: ReadonlyMap<string, Attack> = new Map([
  ...BODIES.map(({ title, path, body }): [string, Attack] => [
    `600 a minute from one address: ${title}`,
    (target, signal) => attackWith(target, { path, body: Buffer.from(JSON.stringify(body)) }, signal),
  ]),
  ["bad signatures from many addresses, as fast as 16 connections carry", signBadly],
  ["1000 connections that send a byte a second", dawdle],
]);

export const TITLES: readonly string[] = [...ATTACKS.keys()];

/** What a worker is told to do. */
export interface Order extends Target {
  readonly title: string;
}

// As a worker, an attack has a thread of its own: good buyers do not wait for its requests to be made.
if (parentPort) {
  const { title, ...target } = workerData as Order;
  const over = new AbortController();
  parentPort.once("message", () => over.abort());
  const attack = ATTACKS.get(title) as Attack;
  parentPort.postMessage(await attack(target, over.signal));
  process.exit();
}

/** 600 requests a minute over four connections, until told. */
async function attackWith(
  { url, shop }: Target,
  { path, body }: { readonly path: string; readonly body: Buffer },
  signal: AbortSignal,
): Promise<number> {
  const pay = await toPayments(shop + path).catch(() => () => "");
  let refused = 0;
  const connection = async (): Promise<void> => {
    while (!signal.aborted) {
      const began = performance.now();
      if ((await post(url + path, body, ATTACKER, pay())) === 429) refused += 1;
      await sleep(Math.max(0, CONNECTIONS * HOSTILE_EVERY_MS - (performance.now() - began)));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return refused;
}

/** Payments that fit their offer and are not signed, each from another address. */
async function signBadly({ url, shop }: Target, signal: AbortSignal): Promise<number> {
  const pay = await toPayments(shop + GOOD.path);
  const body = JSON.stringify(GOOD.body);
  let sent = 0;
  let refused = 0;
  const connection = async (): Promise<void> => {
    while (!signal.aborted) {
      sent += 1;
      const client = `100.64.${(sent >> 8) & 255}.${sent & 255}`;
      if ((await post(url + GOOD.path, body, client, pay())) === 429) refused += 1;
    }
  };
  await Promise.all(Array.from({ length: FAST_CONNECTIONS }, connection));
  return refused;
}

/** Heads that never end. */
async function dawdle({ url }: Target, signal: AbortSignal): Promise<number> {
  const { hostname, port } = new URL(url);
  let closed = 0;
  const sockets = Array.from({ length: SLOW_CONNECTIONS }, () => {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {}).on("close", () => (closed += signal.aborted ? 0 : 1));
    socket.write(`POST ${GOOD.path} HTTP/1.1\r\nHost: a\r\nx: `);
    return socket;
  });
  while (!signal.aborted) {
    for (const socket of sockets) if (socket.writable) socket.write("x");
    await sleep(1000);
  }
  for (const socket of sockets) socket.destroy();
  return closed;
}

/** Sends a request; gives the status. */
export async function post(url: string, body: string | Buffer, client: string, payment: string): Promise<number> {
  const headers = {
    "content-type": "application/json",
    "x-forwarded-for": client,
    ...(payment !== "" && { "payment-signature": payment }),
  };
  const response = await fetch(url, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}
