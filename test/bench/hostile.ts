import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { toManyKeys } from "../attacks/support/hostile-bodies.ts";
import { toPayments } from "../attacks/support/whole-shop.ts";
import { type Contestant, start } from "./contestant.ts";

/** How good buyers fare beside an attack. Latencies are milliseconds. */
export interface HostileRow {
  readonly title: string;
  readonly alone: Latencies;
  readonly beside: Latencies;
  /** How many of the attacker's requests were answered 429, or of its connections closed. */
  readonly refused: number;
}

interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

const SECONDS = 20;
const GOOD_EVERY_MS = 20;
const GOOD = { path: "/v1/parse/datetime", body: { input: "tomorrow at noon" }, client: "192.0.2.1" };
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

interface Attack {
  readonly title: string;
  /** Goes on until told. @returns how many requests were refused with 429, or connections closed. */
  readonly run: (server: Contestant, signal: AbortSignal) => Promise<number>;
}

const ATTACKS: readonly Attack[] = [
  ...BODIES.map(({ title, path, body }) => ({
    title: `600 a minute from one address: ${title}`,
    run: (server: Contestant, signal: AbortSignal) =>
      attackWith(server, path, Buffer.from(JSON.stringify(body)), signal),
  })),
  { title: "bad signatures from many addresses, as fast as 16 connections carry", run: signBadly },
  { title: "1000 connections that send a byte a second", run: dawdle },
];

export async function measureHostile(): Promise<HostileRow[]> {
  const rows: HostileRow[] = [];
  for (const { title, run } of ATTACKS) {
    const server = await start([join(import.meta.dirname, "servers", "whole.ts")]);
    try {
      await measureGood(server, 3); // Warms up.
      const alone = await measureGood(server, SECONDS);
      const over = new AbortController();
      const attack = run(server, over.signal);
      const beside = await measureGood(server, SECONDS);
      over.abort();
      rows.push({ title, alone, beside, refused: await attack });
    } finally {
      await server.stop();
    }
  }
  return rows;
}

async function measureGood({ url }: Contestant, seconds: number): Promise<Latencies> {
  const pay = await toPayments(url + GOOD.path, "00".repeat(65));
  const latencies: number[] = [];
  const running: Promise<void>[] = [];
  const until = performance.now() + seconds * 1000;
  for (let due = performance.now(); due < until; due += GOOD_EVERY_MS) {
    await sleep(Math.max(0, due - performance.now()));
    const began = performance.now();
    running.push(
      post(url + GOOD.path, JSON.stringify(GOOD.body), GOOD.client, pay()).then((status) => {
        if (status !== 200) throw new Error(`a good buyer was answered ${status}`);
        latencies.push(performance.now() - began);
      }),
    );
  }
  await Promise.all(running);
  latencies.sort((one, other) => one - other);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** 600 requests a minute over four connections, until told. */
async function attackWith({ url }: Contestant, path: string, body: Buffer, signal: AbortSignal): Promise<number> {
  const pay = await toPayments(url + path).catch(() => () => "");
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
async function signBadly({ url }: Contestant, signal: AbortSignal): Promise<number> {
  const pay = await toPayments(url + GOOD.path);
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
async function dawdle({ url }: Contestant, signal: AbortSignal): Promise<number> {
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

async function post(url: string, body: string | Buffer, client: string, payment: string): Promise<number> {
  const headers = {
    "content-type": "application/json",
    "x-forwarded-for": client,
    ...(payment !== "" && { "payment-signature": payment }),
  };
  const response = await fetch(url, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}
