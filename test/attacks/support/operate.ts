import { askProcess } from "../../../runtime/cli/operate/ask.ts";
import type { StatusReport } from "../../../runtime/cli/serve/admin/routes.ts";
import type { Applied } from "../../../runtime/cli/serve/change/changes.ts";

/** What the commands ask of a process, without starting them. */
export const operate = {
  apply: (socket: string): Promise<Applied> => askProcess<Applied>(socket, "POST", "/apply", { by: "test" }),
  status: (socket: string): Promise<StatusReport> => askProcess<StatusReport>(socket, "GET", "/status"),
};
