import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { parse, stringify } from "yaml";
import { type RecordRun, runRecord } from "../../../runtime/cli/record/record.ts";
import type { RecordedExchange } from "../../../runtime/sandbox/recordings/recordings.ts";
import { loadRecordings } from "../../../runtime/sandbox/recordings/recordings.ts";
import { makeDirectory, TOSS } from "../../core/set/served-directory.ts";

export type Live = Readonly<Record<string, { status?: number; headers?: Record<string, string>; body: unknown }>>;

export const KEY = "demo-key-of-an-operator";
export const PRICES = "plugins/price/recordings/gecko/prices.json";
export const LIST = "plugins/screen/recordings/list/list.json";
export const CHAIN = "plugins/wallet/recordings/node/balances.json";
export const PRICE = "/price?ids=a&vs=usd";

export const success = (path: string, response: object, name = "success"): object => ({
  case: name,
  request: { method: "GET", path },
  response,
});
export const balance = (response: object): object => ({
  case: "success",
  request: { rpc: { method: "getBalance", params: ["0x1"] } },
  response,
});

/** A scripted upstream, and a served directory whose recordings come from it. */
export interface RecordStage {
  /** The answers of the upstream; empty at first. */
  live: Live;
  /** The requests that reached the upstream in this test. */
  asked: Asked[];
  origin(): string;
  /** Makes a served directory with these files, whose upstreams are the server. */
  make(files: Readonly<Record<string, unknown>>): Promise<void>;
  /** Records in the directory that was made last. */
  record(more?: Partial<Parameters<typeof runRecord>[0]>): Promise<RecordRun>;
  read(file: string): Promise<string>;
  exchangesOf(file: string): readonly RecordedExchange[];
}

interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

/** To be called in a `describe`: starts the upstream before the tests and removes everything after them. */
export function stageRecord(): RecordStage {
  let server: Server;
  let dir: string;

  before(async () => {
    server = createServer(async (request, response) => {
      const { url: path = "", headers, method } = request;
      const body =
        method === "POST" ? ((await json(request)) as { id?: unknown; method?: string; jsonrpc?: string }) : undefined;
      stage.asked.push({ path, headers, body });
      const {
        status = 200,
        headers: own = {},
        body: answer,
      } = stage.live[body?.method ?? path] ?? { status: 404, body: {} };
      const text = body?.jsonrpc ? { jsonrpc: "2.0", id: body.id, ...(answer as object) } : answer;
      response.writeHead(status, own).end(typeof text === "string" ? text : JSON.stringify(text));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
  });
  beforeEach(() => {
    stage.asked = [];
    stage.live = {};
  });
  after(() => server.close());

  const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function make(files: Readonly<Record<string, unknown>>): Promise<void> {
    const upstreams = [
      {
        id: "gecko",
        title: "Gecko",
        url: `${origin()}/api`,
        variable: "GECKO_URL",
        key: { variable: "GECKO_KEY", header: "x-key" },
      },
      { id: "node", title: "Node", variable: "NODE_RPC_URL" },
      { id: "list", title: "List", url: `${origin()}/sanctions-list.xml` },
    ];
    const site = stringify({ ...parse(TOSS["manifests/_site.yaml"] ?? ""), upstreams });
    const texts = Object.entries(files).map(([file, content]) => [
      file,
      typeof content === "string" ? content : JSON.stringify({ source: "a test", exchanges: content }, null, 4),
    ]);
    dir = await makeDirectory({ ...TOSS, "manifests/_site.yaml": site, ...Object.fromEntries(texts) });
  }

  const record = (more: Partial<Parameters<typeof runRecord>[0]> = {}): Promise<RecordRun> =>
    runRecord({ dir, ids: [], check: false, env: { GECKO_KEY: KEY }, ...more });
  const read = (file: string): Promise<string> => readFile(join(dir, file), "utf8");
  const exchangesOf = (file: string) => loadRecordings(dir, [file])[0]?.exchanges ?? [];

  const stage: RecordStage = { live: {}, asked: [], origin, make, record, read, exchangesOf };
  return stage;
}
