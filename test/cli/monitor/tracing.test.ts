import { execFile } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import type { LiveFinding } from "../../../runtime/cli/live/probe.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createTracing } from "../../../runtime/drivers/tracing/tracing.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { LAUNCHER } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { INHERITED } from "../../support/inherited.ts";
import { openOperatedShop } from "../../support/sellers/operator.ts";
import { createBuyer, json, signFor, stockFetch } from "../../support/sellers/stock-buyer.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const NAMED = "1af7651916cd43dd8448eb211c80319c";
const MISTYPED = "2af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

/** With a service whose input is in the path. */
const FILES = {
  ...TOSS,
  "manifests/labelled.yaml": (TOSS["manifests/toss.yaml"] ?? "")
    .replace("id: toss", "id: labelled")
    .replace("POST /v1/toss", "GET /v1/toss/{label}")
    .replace(
      "input: TossRequest",
      "input: { type: object, properties: { label: { type: string } }, required: [label] }",
    )
    .replace("{ coins: 2 }", "{ label: heads }"),
};

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly object[];
}
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly object[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

describe("traces", () => {
  let collector: Server;
  /** The attributes of spans' origin, as JSON. */
  const resources = new Set<string>();
  const got: { path: string; spans: Span[]; key: string | undefined; login: string | undefined }[] = [];
  before(async () => {
    collector = createServer(async (request, response) => {
      const { resourceSpans } = JSON.parse(await text(request)) as Export;
      const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
      for (const { resource } of resourceSpans)
        for (const attribute of resource.attributes) resources.add(JSON.stringify(attribute));
      const { authorization: login, "x-key": key } = request.headers;
      got.push({ path: request.url ?? "", spans, key: key as string | undefined, login });
      response.end("{}");
    });
    await once(collector.listen(0, "127.0.0.1"), "listening");
  });
  after(() => closeServer(collector));

  it("go on with the caller's, and show each step of a paid call", async () => {
    const { port } = collector.address() as AddressInfo;
    const shop = await openOperatedShop(FILES, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://shop:s%40lt%25@127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20key",
    });
    const pay = await stockFetch(shop.sandbox, "base");
    const traced = json({}, { traceparent: `00-${TRACE}-${PARENT}-01` });
    expect((await pay(`${shop.running.url}/v1/toss`, traced)).status).to.equal(200);
    const named = { headers: { traceparent: `00-${NAMED}-${PARENT}-01` } };
    expect((await fetch(`${shop.running.url}/v1/toss/secret`, named)).status).to.equal(402);
    const mistyped = { headers: { traceparent: `00-${MISTYPED}-${PARENT}-01` } };
    expect((await fetch(`${shop.running.url}/v1/toss/secret/`, mistyped)).status).to.equal(404);
    await shop.close(); // What is left is sent.
    const login = `Basic ${Buffer.from("shop:s@lt%").toString("base64")}`;
    expect(got.map(({ path, key, ...sent }) => [path, key, sent.login])).to.deep.include([
      "/v1/traces",
      "a key",
      login,
    ]);
    const spans = got.flatMap((each) => each.spans).filter(({ traceId }) => traceId === TRACE);
    const byName = new Map(spans.map((span) => [span.name, span]));
    const call = byName.get("call toss") as Span;
    const root = spans.find(({ spanId }) => spanId === call.parentSpanId) as Span;
    expect(root).to.include({ name: "HTTP POST", parentSpanId: PARENT, kind: 2 });
    for (const step of ["read", "reserve", "verify", "run", "record", "settle"]) {
      const span = byName.get(step) as Span;
      expect(span, step).to.include({ parentSpanId: call.spanId });
      expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), step).to.equal(true);
    }
    const answered = byName.get("answer") as Span;
    expect(answered).to.include({ parentSpanId: root.spanId });
    expect(BigInt(answered.startTimeUnixNano) >= BigInt(call.startTimeUnixNano), "answer").to.equal(true);
    const [asked] = got.flatMap((each) => each.spans).filter(({ traceId }) => traceId === NAMED);
    expect(JSON.stringify(asked?.attributes), "no input").to.include("/v1/toss/:label").and.not.include("secret");
    const [missed, ...steps] = got.flatMap((each) => each.spans).filter(({ traceId }) => traceId === MISTYPED);
    expect(steps, "no call").to.deep.equal([]);
    expect(JSON.stringify(missed?.attributes), "no input").to.include('"404"').and.not.include("secret");
    expect(JSON.stringify(root.attributes)).to.include('"/v1/toss"');
    expect(JSON.stringify(spans), "no payer").not.to.match(/0x[0-9a-f]{40}/i);
    expect(
      spans.some(({ name }) => name === "HTTP GET"),
      "probes",
    ).to.equal(false);
  });

  it("show the work of a service that was removed, too", async () => {
    const { port } = collector.address() as AddressInfo;
    const shop = await openOperatedShop(FILES, { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    const url = `${shop.running.url}/v1/toss`;
    const payment = await signFor(await createBuyer(shop.sandbox), await fetch(url, json({})));
    await rm(join(shop.dir, "manifests/toss.yaml"));
    await shop.restart();
    got.length = 0;
    expect((await fetch(url, json({}, payment))).status).to.equal(200);
    await shop.close();
    const names = got.flatMap((each) => each.spans).map(({ name }) => name);
    expect(names).to.include.members(["call toss", "run", "settle"]);
  });

  it("mark what has failed, and are none of work in the background, which is done all the same", async () => {
    const { port } = collector.address() as AddressInfo;
    const terms = { endpoint: `http://127.0.0.1:${port}`, headers: {}, service: "shop", log: silentLog };
    const tracing = createTracing({ ...terms, patternOf: () => undefined });
    const failing = createServer(
      tracing.wrap(({ url }, response) => void response.writeHead(Number(url?.slice(1))).end()),
    );
    const url = await listenOnLoopback(failing);
    got.length = 0;
    expect(await tracing.trace("settle", async () => "settled")).to.equal("settled");
    for (const status of [499, 500]) await fetch(`${url}/${status}`);
    await closeServer(failing);
    await tracing.close();
    const spans = got.flatMap((each) => each.spans);
    expect(spans.map(({ name, status }) => [name, status.code])).to.deep.equal([
      ["HTTP GET", 0],
      ["HTTP GET", 2],
    ]);
  });

  it("belong to the service payphone, or to the one that OTEL_SERVICE_NAME names", async () => {
    const { port } = collector.address() as AddressInfo;
    for (const named of [{}, { OTEL_SERVICE_NAME: "tosses" }]) {
      resources.clear();
      const shop = await openOperatedShop(TOSS, { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, ...named });
      await fetch(`${shop.running.url}/v1/toss`);
      await shop.close();
      const { OTEL_SERVICE_NAME: service = "payphone" } = named;
      expect([...resources]).to.include(JSON.stringify({ key: "service.name", value: { stringValue: service } }));
    }
  });
});

/** Hides one of the packages, as where nobody has installed it. */
const HIDE = `import { registerHooks } from "node:module";
registerHooks({
  resolve(name, context, next) {
    if (name !== "@opentelemetry/sdk-trace-base") return next(name, context);
    throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: "ERR_MODULE_NOT_FOUND" });
  },
});`;

describe("serve --check with a collector", () => {
  /** What it finds about traces. @param options of Node */
  async function check(...options: readonly string[]): Promise<LiveFinding | undefined> {
    const { env } = await sharedSandbox();
    const named = { PUBLIC_BASE_URL: "http://127.0.0.1:9", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
    const settings = { ...INHERITED, ...env, ...named, PAYPHONE_DATA_DIR: createFolder(), PORT: "0" };
    const dir = await makeDirectory(toShop([]));
    const args = [...options, LAUNCHER, "serve", "--check", "--json", "--dir", dir];
    const out = await new Promise<string>((resolve) => {
      execFile(process.execPath, args, { env: settings }, (_error, stdout) => resolve(stdout));
    });
    return (JSON.parse(out) as LiveFinding[]).find(({ what }) => what === "traces");
  }

  it("passes where the packages of traces are installed", async () => {
    expect(await check()).to.include({ state: "ok", found: "OpenTelemetry's packages are installed" });
  });

  it("fails where one is not, since serve does not start then", async () => {
    const finding = await check("--import", `data:text/javascript,${encodeURIComponent(HIDE)}`);
    expect(finding).to.include({ state: "failed" });
    expect(finding?.found).to.match(/^Traces need packages that are not installed: npm install @opentelemetry/);
  });
});
