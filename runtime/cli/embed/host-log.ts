import type { Log } from "../../api/capabilities.ts";
import { createLog, type LogOptions, type OpenLog } from "../../drivers/log.ts";

/** A log that removes secrets as payphone's own does, and hands its lines to the host's. */
export function createHostLog(host: Log, level: LogOptions["level"]): OpenLog {
  return createLog({
    ...(level && { level }),
    destination: {
      write(line) {
        const { level: kind, event, time: _, ...fields } = JSON.parse(line) as Record<string, unknown>;
        const write = kind === "warn" || kind === "error" ? host[kind] : host.info;
        write.call(host, String(event), fields);
      },
    },
  });
}
