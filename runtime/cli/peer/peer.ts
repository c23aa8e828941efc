import { randomUUID } from "node:crypto";
import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { PATHS } from "../../core/paths.ts";
import { sealEnvelope } from "../../core/peers/envelope.ts";
import { explainOrigin } from "../../core/peers/origin.ts";
import { type IdentityOptions, openIdentity, rotateIdentity } from "../../drivers/peers/identity.ts";
import { openStore } from "../../drivers/store/open-store.ts";
import { ask, field } from "../call/http.ts";
import type { PeerConfig } from "../config/config.ts";
import { EXIT, exitCodeOf } from "../exit-code.ts";
import { printableLines, toPrintableJson } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { toHelloText, toRefusalText } from "./text.ts";

/** The command line of `payphone peer hello`. */
export interface PeerHelloOptions {
  /** The peer's public base URL. */
  readonly url: string;
  /** Whether to print the peer's answer as JSON. */
  readonly json: boolean;
}

const VALID_SECONDS = 120;
const clock = { now: Date.now };

/**
 * Sends `peer/hello`, signed by this server's identity, to another agent, and prints the answer. Returns the exit code.
 */
export async function runPeerHello(config: PeerConfig, options: PeerHelloOptions, terminal: Terminal): Promise<number> {
  return attempt(terminal, async () => {
    const answer = await greet(config, options.url, terminal);
    terminal.out(options.json ? toPrintableJson(answer) : toHelloText(answer));
  });
}

/** Schedules a new identity key for this server, and prints when it takes effect. Returns the exit code. */
export async function runPeerRotate(config: PeerConfig, terminal: Terminal): Promise<number> {
  return attempt(terminal, async () => {
    const signsFrom = await withIdentityOptions(config, rotateIdentity);
    terminal.out(`A new key signs from ${new Date(signsFrom * 1000).toISOString()} on.`);
    terminal.err(
      "Restart every server within the hour, so that the agent card shows it in time. The old key stays in the",
    );
    terminal.err("card: active for a day and an hour after the change, and retired from the first start after that.");
  });
}

async function greet(config: PeerConfig, url: string, { signal }: Terminal): Promise<unknown> {
  const origin = config.publicBaseUrl ?? "";
  const fault = explainOrigin(origin);
  if (fault !== undefined) {
    const found = config.publicBaseUrl === undefined ? "not set" : JSON.stringify(origin);
    const why = "the other agent reads your key in the agent card there";
    throw new Problem("bad-request", `PUBLIC_BASE_URL is ${found}, but ${fault.replace(/^origin/, "it")}: ${why}`);
  }
  const identity = await withIdentityOptions(config, (place) => openIdentity({ ...place, mustExist: true }));
  const exp = Math.floor(clock.now() / 1000) + VALID_SECONDS;
  // The audience is the URL that the operator typed, never one from the peer; otherwise the peer could make us greet a
  // third agent.
  const params = sealEnvelope(
    "peer/hello",
    { aud: url, origin, nonce: randomUUID(), exp, body: null },
    identity.signer(),
  );
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "peer/hello", params });
  const answer = await ask({ method: "POST", url: url + PATHS.a2a, body }, { signal });
  const [result, error] = ["result", "error"].map((name) => field(answer.json, name));
  if (isObject(result) && (error ?? null) === null) return result;
  throw new Problem("upstream-failed", toRefusalText(url, answer), { members: { status: answer.status } });
}

/** The identity is kept in Redis when REDIS_URL is set, and shared by all machines; otherwise in the data directory. */
async function withIdentityOptions<T>(config: PeerConfig, use: (options: IdentityOptions) => Promise<T>): Promise<T> {
  const { dataDir, redisUrl, identityKeys: keys } = config;
  const store = redisUrl === undefined || keys ? undefined : await openStore({ redisUrl, dataDir });
  try {
    return await use({ keys, dataDir, store, clock });
  } finally {
    await store?.close();
  }
}

async function attempt({ err, signal }: Terminal, run: () => Promise<void>): Promise<number> {
  try {
    await run();
    return EXIT.ok;
  } catch (error) {
    if (signal.aborted) return EXIT.failed;
    if (!(error instanceof Problem)) throw error;
    err(printableLines(`payphone: ${error.message}`));
    return exitCodeOf(error.code);
  }
}
