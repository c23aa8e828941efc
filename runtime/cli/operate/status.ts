import { toColumns } from "../columns.ts";
import type { Config } from "../config/config.ts";
import { printable } from "../printable.ts";
import { adminToken, TOKEN_PATH } from "../serve/admin/admin.ts";
import type { StatusReport } from "../serve/admin/routes.ts";
import { type Answers, askAll, askProcess, findProcesses } from "./ask.ts";

/** The status of the processes on this machine. @throws Problem `unavailable` when none runs or answers. */
export const readStatus = ({ dataDir }: Pick<Config, "dataDir">): Promise<Answers<StatusReport>> =>
  askAll<StatusReport>(dataDir, "GET", "/status");

/** The token for ADMIN_PORT: that of the running process, otherwise that of the next one. @throws Problem `unavailable`. */
export async function readAdminToken(config: Pick<Config, "dataDir" | "admin">): Promise<string> {
  const [socket] = await findProcesses(config.dataDir);
  if (socket === undefined) return adminToken(config);
  return (await askProcess<{ readonly token: string }>(socket, "GET", TOKEN_PATH)).token;
}

/** This many modules of former sets take about 100 MB. */
const MANY_MODULES = 1000;

/** What `payphone status` prints. Reasons have what facilitators and nodes say. */
export function toStatusText(reports: readonly StatusReport[]): string {
  const [{ jobs, processes }] = reports as readonly [StatusReport, ...StatusReport[]];
  const rows = processes.map(({ host, pid, version, set, url, since }) => {
    const own = reports.find((report) => report.pid === pid && report.url === url);
    const memory = own ? `${Math.round(own.memory_bytes / 1e6)} MB` : "";
    return [`${host}/${pid}`, version, set, `up ${toSpan(Date.now() - Date.parse(since))}`, url, memory];
  });
  const ofAll = (toLines: (ready: StatusReport["ready"]) => readonly string[]): readonly string[] =>
    toCommonLines(reports.map(({ pid, ready }) => ({ pid, lines: toLines(ready) })));
  const lines = Object.entries(jobs).map(([service, count]) => `${service} ${count}`);
  const report = [
    ...toColumns(rows),
    "",
    ...ofAll(({ status, store_reason: why }) => [`state    ${status}${why === undefined ? "" : `: ${why}`}`]),
    ...ofAll(({ rails }) => toRailLines(rails)),
    ...ofAll(({ distrusted = [] }) =>
      distrusted.map(({ facilitator, reason }) => `warning  ${reason}: payphone trust ${facilitator}`),
    ),
    ...(lines.length > 0 ? [`jobs     ${lines.join(", ")}`] : []),
    ...ofAll(({ upstreams }) => toDownLines("source", upstreams)),
    ...ofAll(({ services }) => toDownLines("service", services)),
    ...ofAll(({ warnings = [] }) => warnings.map((line) => `warning  ${line}`)),
    ...toAdvice(reports).map((line) => `warning  ${line}`),
  ];
  return report.map(printable).join("\n");
}

/** Each line once. One that not all processes have names those that have it. */
function toCommonLines(all: readonly { readonly pid: number; readonly lines: readonly string[] }[]): readonly string[] {
  const lines = new Set(all.flatMap(({ lines }) => lines));
  return [...lines].map((line) => {
    const own = all.filter(({ lines }) => lines.includes(line));
    if (own.length === all.length) return line;
    return `${line} (process ${own.map(({ pid }) => pid).join(", ")})`;
  });
}

/** Advice about problems that are present now. */
function toAdvice(reports: readonly StatusReport[]): readonly string[] {
  const processes = reports[0]?.processes ?? [];
  const sets = Map.groupBy(processes, ({ set }) => set);
  const parts = [...sets].map(([set, own]) => `${set} by ${own.map(({ host, pid }) => `${host}/${pid}`).join(", ")}`);
  return [
    ...(sets.size > 1 ? [`The processes sell different sets: ${parts.join("; ")}`] : []),
    ...reports.flatMap(({ pid, kept = [] }) => kept.map((line) => `In process ${pid} ${line}`)),
    ...reports
      .filter(({ modules, modules_at_start }) => modules - modules_at_start >= MANY_MODULES)
      .map(({ pid, modules, modules_at_start }) => {
        const left = modules - modules_at_start;
        return `Process ${pid} holds ${left} modules of earlier plugins, which nothing can unload: a restart frees their memory`;
      }),
  ];
}

const toRailLines = (rails: StatusReport["ready"]["rails"]): readonly string[] =>
  rails.map(({ id, network, state, reason }) =>
    `rail     ${id} (${network}) ${state}${reason === undefined ? "" : `: ${reason}`}`.trimEnd(),
  );

const toDownLines = (
  what: string,
  all: readonly { readonly id: string; readonly state: string; readonly reason?: string }[],
): readonly string[] =>
  all.filter(({ state }) => state === "down").map(({ id, reason = "" }) => `${what.padEnd(8)} ${id} down: ${reason}`);

const SPANS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

function toSpan(ms: number): string {
  const [unit, length] = SPANS.find(([, span]) => ms >= span) ?? ["s", 1000];
  return `${Math.max(0, Math.floor(ms / length))} ${unit}`; // The clock may be behind that of another machine.
}
