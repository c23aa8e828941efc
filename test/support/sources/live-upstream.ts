import { createHttpTransport } from "../../../runtime/drivers/upstream/transport.ts";
import { createUpstream, type LiveUpstream, type UpstreamOptions } from "../../../runtime/drivers/upstream/upstream.ts";
import { createLogBook, type LogLine } from "../http.ts";
import { openSource, type ScriptedSource } from "./scripted-source.ts";

/** The real driver and transport with a scripted source. Only the test advances the time. */
export interface Bench {
  readonly source: ScriptedSource;
  readonly lines: readonly LogLine[];
  /** Opens an upstream whose retries pause for one millisecond. */
  open(changes?: Partial<UpstreamOptions>): LiveUpstream;
  /** Advances the time past the pauses of breakers and rate limits. */
  wait(ms: number): void;
  close(): Promise<void>;
}

export async function openBench(): Promise<Bench> {
  const source = await openSource();
  const transport = createHttpTransport();
  const { lines, ...log } = createLogBook();
  let now = Date.parse("2027-01-15T08:00:00Z");
  return {
    source,
    lines,
    open: (changes) =>
      createUpstream({
        id: "source",
        title: "Source",
        url: source.url,
        variable: "SOURCE_URL",
        headers: {},
        timeoutMs: 5000,
        retries: 2,
        pauseMs: 1,
        transport: transport.send,
        clock: { now: () => now },
        log,
        ...changes,
      }),
    wait(ms) {
      now += ms;
    },
    async close() {
      await transport.close();
      await source.close();
    },
  };
}

/** A signal that is never aborted. */
export const NEVER = new AbortController().signal;
