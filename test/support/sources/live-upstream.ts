import { createHttpTransport } from "../../../runtime/drivers/upstream/transport.ts";
import { createUpstream, type LiveUpstream, type UpstreamOptions } from "../../../runtime/drivers/upstream/upstream.ts";
import { createLogBook, type LogLine } from "../http.ts";
import { openSource, type ScriptedSource } from "./scripted-source.ts";

/** The real driver over the real transport, before a scripted source; time stands still unless the test moves it. */
export interface Bench {
  readonly source: ScriptedSource;
  readonly lines: readonly LogLine[];
  /** With retries that pause for a millisecond. */
  open(changes?: Partial<UpstreamOptions>): LiveUpstream;
  /** Lets the time of breakers and rests pass. */
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
        ...{ id: "source", title: "Source", url: source.url, variable: "SOURCE_URL", headers: {} },
        ...{ timeoutMs: 5000, retries: 2, pauseMs: 1 },
        ...{ transport: transport.send, clock: { now: () => now }, log },
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

/** A signal that nobody aborts. */
export const NEVER = new AbortController().signal;
