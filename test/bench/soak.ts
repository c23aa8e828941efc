import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFolder } from "../support/folder.ts";
import { type Contestant, startServer } from "./contestant.ts";
import { payer } from "./load.ts";
import { BODY, PATHS } from "./shop.ts";

/** Resident memory under mixed load. */
export interface SoakRow {
  readonly minutes: number;
  readonly calls: number;
  /** After a quarter of the time, after half of it, and at the end. */
  readonly megabytes: readonly [number, number, number];
  /** In the second half, by least squares. */
  readonly megabytesPerMinute: number;
}

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const EVERY_MS = 10;
const LOOK_MS = 2000;
const HEADERS = { "content-type": "application/json" };
const TOOL_LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

/** A hundred calls a second, on a real file: paid and repeated, unpaid, refused, free, over `/mcp`, and broken ones. */
export async function measureSoak(): Promise<SoakRow> {
  const folder = createFolder();
  const server = await startServer("payphone", join(folder, "state.sqlite"));
  try {
    return await soak(server);
  } finally {
    await server.stop();
  }
}

async function soak({ url, memory }: Contestant): Promise<SoakRow> {
  const path = PATHS[0] as string; // The bench's shop has 18.
  const pay = await payer(url + path);
  const post = (to: string, body: string, headers: object = {}): Promise<void> =>
    fetch(url + to, { method: "POST", headers: { ...HEADERS, ...headers }, body }).then((response) =>
      response.arrayBuffer().then(() => {}),
    );
  const payments = [pay()];
  const kinds: readonly (() => Promise<void>)[] = [
    () => post(path, BODY, { "payment-signature": payments[0] }),
    () => post(path, BODY, { "payment-signature": payments.splice(0, 1, pay())[0] }), // The same one again.
    () => post(path, BODY),
    () => post(path, "[".repeat(10_000), { "payment-signature": pay() }),
    () => post(path, BODY, { "payment-signature": "bm90IGEgcGF5bWVudA==" }),
    () => post("/mcp", TOOL_LIST, { accept: "application/json, text/event-stream" }),
    () => post("/nowhere", "{}"),
  ];
  const looks: { readonly minute: number; readonly megabytes: number }[] = [];
  const began = performance.now();
  const minute = (): number => (performance.now() - began) / 60_000;
  let calls = 0;
  for (let lookAt = 0; minute() < MINUTES; calls += 1) {
    await Promise.all([kinds[calls % kinds.length]?.(), sleep(EVERY_MS)]);
    if (performance.now() - began < lookAt) continue;
    looks.push({ minute: minute(), megabytes: memory() / 1e6 });
    lookAt += LOOK_MS;
  }
  const at = (share: number): number => looks[Math.ceil(share * (looks.length - 1))]?.megabytes ?? Number.NaN;
  const secondHalf = looks.filter((look) => look.minute >= MINUTES / 2);
  return { minutes: MINUTES, calls, megabytes: [at(0.25), at(0.5), at(1)], megabytesPerMinute: slopeOf(secondHalf) };
}

function slopeOf(looks: readonly { readonly minute: number; readonly megabytes: number }[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [minutes, megabytes] = [mean(looks.map((one) => one.minute)), mean(looks.map((one) => one.megabytes))];
  const over = looks.map((one) => (one.minute - minutes) * (one.megabytes - megabytes));
  return mean(over) / mean(looks.map((one) => (one.minute - minutes) ** 2));
}
