import { readFileSync } from "node:fs";
import { join } from "node:path";
import ledger from "../../../plugins/ledger/index.ts";
import type { LedgerQuery } from "../../../plugins/ledger/request.ts";
import type { Host } from "../../../runtime/api/plugin.ts";
import type { LedgerReportDeliverable } from "../../../schemas/generated/services.ts";
import { replayAlways } from "../../support/sources/replay.ts";
import { createHost, readManifest, serve, type TestHost } from "../host.ts";
import { WALLET } from "./base-node.ts";

const NODE = "https://base.test";
const RECORDING = "plugins/ledger/recordings/base/transfers.json";

/** Where the golden files of the manifest's example are, by the names of the published ones. */
export const GOLDEN = join(import.meta.dirname, "../../fixtures/golden/ledger");
export const readGolden = (name: string): string => readFileSync(join(GOLDEN, `${name}.golden`), "utf8");

/** A transfer of a ledger. */
export const ENTRY = {
  from: WALLET,
  block: 1,
  index: 1,
  tx: "0x1",
  isAuthorized: true,
  at: 1_762_128_001,
  category: "x402" as const,
  service: undefined,
};

/** What is asked about it. */
export const QUERY: LedgerQuery = {
  wallet: WALLET,
  period: { from: 1_762_128_000, to: 1_762_128_100 },
  direction: "outbound",
  least: 0n,
  groupBy: "recipient",
  withOthers: false,
};

/** A page without its style and icon, which are the site's. */
export const withoutLook = (page: string): string =>
  page.replace(/<style>.*?<\/style>/s, "<style></style>").replaceAll(/(?<="data:image\/svg\+xml;base64,)[^"]+/g, "");

/** A report that was made from the recordings. */
export interface Made {
  readonly deliverable: LedgerReportDeliverable;
  /** The published texts, by name. */
  readonly files: ReadonlyMap<string, string>;
  readonly host: TestHost;
}

type Facts = Parameters<Awaited<ReturnType<typeof serve>>>[1];

/** Makes the report of the manifest's example with these changes. Needs `offline()`. */
export async function make(changes: object = {}, facts: Facts = {}, overrides: Partial<Host> = {}): Promise<Made> {
  replayAlways(NODE, RECORDING, ["success"]);
  const host = createHost(overrides, { urls: { base: NODE }, retries: 0 });
  const report = await serve("ledger_report", ledger, host);
  const [example] = readManifest("ledger_report").examples;
  const deliverable = await report({ ...(example?.input as object), ...changes }, facts);
  const files = new Map([...host.published.values()].map(({ name, body }) => [name, body]));
  return { deliverable: deliverable as unknown as LedgerReportDeliverable, files, host };
}
