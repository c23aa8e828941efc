import type { Log } from "../../api/capabilities.ts";
import { createComplaint, createLog, type LogOptions, type OpenLog } from "../../drivers/log.ts";

/** A log that removes secrets like payphone's own, and hands its entries to the host's log. */
export function createHostLog(host: Log, level: LogOptions["level"]): OpenLog {
  const complain = createComplaint();
  return createLog({
    ...(level && { level }),
    destination: {
      write(line) {
        const { level: kind, event, time: _, ...fields } = JSON.parse(line) as Record<string, unknown>;
        const write = kind === "warn" || kind === "error" ? host[kind] : host.info;
        const written: unknown = write.call(host, String(event), fields);
        if (written instanceof Promise) written.catch(complain); // It would end the host's process.
      },
    },
  });
}
