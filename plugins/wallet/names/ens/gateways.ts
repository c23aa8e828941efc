import { type Hex, Problem, type Web } from "#plugin";

/** An off-chain lookup (EIP-3668, OffchainLookup). */
export interface Lookup {
  readonly data: Hex;
  readonly sender: Hex;
  /** Chosen by the name's owner: untrusted. */
  readonly urls: readonly string[];
}

/** Limit per resolution: a contract could ask for lookups forever. */
const MOST_REQUESTS = 8;
const TIMEOUT_MS = 4000;
const MAX_BYTES = 256 * 1024;
const REDIRECTS = 2;
const HEX = /^0x(?:[0-9a-f]{2})*$/i;

/**
 * Tries the gateways of one resolution in order until one answers; a 4xx ends the search (EIP-3668).
 * @throws Problem `upstream-failed`, without the gateway's own text; the signal's reason.
 */
export function createGateways(web: Web, signal: AbortSignal): (lookup: Lookup) => Promise<Hex> {
  let left = MOST_REQUESTS;

  return async ({ data, sender, urls }) => {
    const failures: unknown[] = [];
    for (const url of urls) {
      if (left-- <= 0) throw toBusyGateway();
      const answer = await ask(url, data, sender).catch((error: unknown) => void failures.push(error));
      signal.throwIfAborted();
      if (answer === undefined || answer.status >= 500) continue;
      if (answer.status !== 200) throw toProblem(`answered ${answer.status}`);
      return toData(answer.body);
    }
    throw toProblem("did not answer", failures[0]);
  };

  function ask(url: string, data: Hex, sender: Hex): ReturnType<Web["fetch"]> {
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, redirects: REDIRECTS, signal };
    const isGet = url.includes("{data}");
    const target = url.replaceAll("{sender}", sender.toLowerCase()).replaceAll("{data}", data);
    if (isGet) return web.fetch(target, limits);
    const headers = { "content-type": "application/json" };
    return web.fetch(target, { method: "POST", headers, body: JSON.stringify({ data, sender }), ...limits });
  }
}

function toData(body: Buffer): Hex {
  try {
    const { data } = JSON.parse(body.toString()) as { data?: unknown };
    if (typeof data === "string" && HEX.test(data)) return data as Hex;
  } catch {
    // Not JSON.
  }
  throw toProblem("answered with something else than data");
}

/** The Problem of a gateway whose answers lead to further lookups again and again. */
export const toBusyGateway = (cause?: unknown): Problem => toProblem("was to be asked too often", cause);

const toProblem = (what: string, cause?: unknown): Problem =>
  new Problem("upstream-failed", `The gateway that the name's owner has chosen ${what}`, { cause });
