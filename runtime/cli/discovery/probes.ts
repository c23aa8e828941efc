import type { Service } from "../../core/service.ts";
import type { Findings } from "./findings.ts";

/** The methods that directories try on a route, without a body. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/** The limit of Node's HTTP clients. */
const MOST_HEADER_BYTES = 16 * 1024;
/** The number of unpaid requests that a directory sends at once. */
const BURST = 150;

/**
 * Probes each paid route as directories do: with every method, without a body.
 * @param headBytes the largest allowed head of a 402
 */
export async function probeRoutes(
  findings: Findings,
  url: string,
  services: readonly Service[],
  headBytes: number,
): Promise<void> {
  for (const { manifest, routes, path } of services) {
    if (manifest.price === undefined) continue;
    const methods: string[] = routes.map(({ method }) => method);
    if (methods.includes("GET")) methods.push("HEAD");
    for (const method of METHODS) {
      const at = findings.at(`${method} ${path}`);
      const response = await fetch(url + toPath(path), { method }).catch((error: Error) => error);
      if (response instanceof Error) {
        const cause = response.cause instanceof Error ? response.cause.message : response.message;
        at.expect(false, `a bare probe fails (${cause}): are the headers larger than ${MOST_HEADER_BYTES} bytes?`);
        continue;
      }
      const wanted = methods.includes(method) ? 402 : 405;
      at.expect(response.status === wanted, `a bare probe must get ${wanted}, and got ${response.status}`);
      if (wanted === 402) {
        at.expect(response.headers.has("payment-required"), "the 402 has no PAYMENT-REQUIRED header");
        const bytes = headBytesOf(response);
        at.expect(
          bytes <= headBytes,
          `its head has ${bytes} bytes, and limits.head_bytes (_site.yaml) allows ${headBytes}: shorten the description, or ` +
            "raise it where the proxies in front take more (nginx takes 4096 by default)",
        );
      }
      await response.body?.cancel();
    }
  }
}

/** The size of the status line and the headers. */
function headBytesOf({ status, statusText, headers }: Response): number {
  const lines = [`HTTP/1.1 ${status} ${statusText}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), ""];
  return lines.reduce((sum, line) => sum + line.length + 2, 0);
}

/** Checks that a burst of unpaid requests is not rate-limited. */
export async function probeBurst(findings: Findings, url: string, services: readonly Service[]): Promise<void> {
  const paid = services.find(({ manifest }) => manifest.price !== undefined);
  if (!paid) return;
  const method = paid.routes[0]?.method ?? "POST";
  const answers = await Promise.all(
    Array.from({ length: BURST }, async () => {
      const response = await fetch(url + toPath(paid.path), { method });
      await response.body?.cancel();
      return response.status;
    }),
  );
  const refused = answers.filter((status) => status === 429).length;
  const message = `${refused} of ${BURST} unpaid requests were rate-limited: raise limits.unpaid_burst in _site.yaml`;
  findings.at(`${method} ${paid.path}`).expect(refused === 0, message);
}

/** Fills path parameters with any value. */
const toPath = (path: string): string => path.replaceAll(/\{\w+\}/g, "x");
