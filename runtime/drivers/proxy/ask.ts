import { Problem } from "../../api/problem.ts";
import { ANSWER_BYTES } from "../../core/proxy/answer.ts";
import { messageOf } from "../../core/proxy/message.ts";
import type { ProxyRequest } from "../../core/proxy/request.ts";
import { isCharged, isKeyRefusal, toStatusProblem } from "../../core/proxy/verdict.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import type { BytesAnswer } from "../upstream/attempt.ts";
import type { LiveUpstream } from "../upstream/upstream.ts";

/** Asks a source, and gives its answer if that is one to be charged for. @throws Problem for every other one. */
export type Ask = (request: ProxyRequest, signal: AbortSignal) => Promise<BytesAnswer>;

/** Asks an upstream of the site. */
export function createUpstreamAsk(manifest: Manifest, upstream: LiveUpstream): Ask {
  const { charge_on: chargeOn, answer } = manifest.proxy ?? {};
  const maxBytes = answer?.max_bytes ?? ANSWER_BYTES;
  const { title } = upstream;

  return async ({ method, target: path, query, headers, body }, signal) => {
    const isRepeatable = method === "GET" || manifest.hints?.idempotent === true;
    const request = { method, path, query, headers, body };
    const received = await upstream.send(request, { signal, maxBytes, isRepeatable });
    upstream.noteRefusal(isKeyRefusal(received.status) ? received.status : undefined);
    if (isCharged(received.status, chargeOn)) return received;
    throw toStatusProblem(
      title,
      received.status,
      messageOf(received.headers.get("content-type"), received.body.toString()),
    );
  };
}

/** The failure of an answer that is not what is sold. */
export const toMisfit = (title: string, cause: unknown): Problem =>
  new Problem("upstream-failed", `${title} answered with what does not fit this service`, { cause });
