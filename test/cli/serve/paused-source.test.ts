import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { openServerStore } from "../../../runtime/cli/config/server-store.ts";
import { type Running, run } from "../../../runtime/cli/serve/run.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { makeDirectory, removeDirectories, TOSS } from "../../core/set/served-directory.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { untilRailsUp } from "../../support/sellers/rails-up.ts";
import { createDataDir } from "../../support/sellers/seller.ts";
import { json, stockFetch } from "../../support/sellers/stock-buyer.ts";
import { openSource, type ScriptedSource } from "../../support/sources/scripted-source.ts";

const UPSTREAMS = `upstreams:
  - { id: films, title: The studio, variable: FILMS_URL, retries: 0, breaker: { failures: 1, seconds: 600 } }
`;
const toManifest = (id: string, more: string): string => `id: ${id}
title: Film
description: Makes a film.
route: POST /v1/${id}
price: "0.01"
proxy: { upstream: films, request: GET /film }
input: { type: object }
output: { type: object, properties: { done: { type: boolean } }, required: [done] }
tags: [film]
examples: [{ input: {} }]
${more}
`;
const JOB = `job:
  status_route: GET /v1/job/{job_id}
  eta_seconds: 10
  deadline_seconds: 60
  attempts: 1
  concurrency: 1
  queue_limit: 10
  refund: false`;
const REFUSAL = { status: 503, detail: "The studio has failed several times in a row; nothing was charged" };

describe("a proxied service whose API is known to be down", function () {
  this.timeout(120_000);
  const data = createDataDir();
  let sandbox: TestSandbox;
  let source: ScriptedSource;
  let running: Running;
  const owned = (): Promise<bigint> => sandbox.usdc.balanceOf(sandbox.description.buyer.evm.address);
  const buy = async (path: string): Promise<{ readonly status: number; readonly detail?: string }> => {
    const pay = await stockFetch(sandbox, "base");
    const response = await pay(running.url + path, json({}));
    const { detail } = (await response.json()) as { readonly detail?: string };
    return { status: response.status, ...(detail !== undefined && { detail }) };
  };

  before(async () => {
    [sandbox, source] = await Promise.all([sharedSandbox(), openSource()]);
    source.script(500);
    const dir = await makeDirectory({
      ...TOSS,
      "manifests/_site.yaml": TOSS["manifests/_site.yaml"] + UPSTREAMS,
      "manifests/film.yaml": toManifest("film", ""),
      "manifests/job.yaml": toManifest("job", JOB),
    });
    const own = { PAYPHONE_DATA_DIR: data.path, PORT: "0", LOG_LEVEL: "silent", FILMS_URL: source.url };
    running = await run({ set: await loadSet(dir), config: readConfig({ ...sandbox.env, ...own }) });
    await untilRailsUp(running.url);
    expect((await buy("/v1/film")).status, "the call that finds out").to.equal(502);
  });
  after(async () => {
    await running?.close();
    await source?.close();
    data.remove();
    await removeDirectories();
  });

  it("takes no job, which would be charged and fail", async () => {
    const had = await owned();
    expect(await buy("/v1/job")).to.deep.equal(REFUSAL);
    expect(await owned()).to.equal(had);
    const { services } = await untilRailsUp(running.url);
    expect(services.filter(({ state }) => state === "down").map(({ id }) => id)).to.deep.equal(["job"]);
  });

  it("charges nobody who has to pay first", async () => {
    const had = await owned();
    expect((await buy("/v1/film")).status, "others are tried").to.equal(502);
    const store = await openServerStore({ dataDir: data.path, redisUrl: undefined });
    const { address } = sandbox.description.buyer.evm;
    await store.set(`pays-first:eip155:8453:${address.toLowerCase()}`, 1, 60_000);
    await store.close();
    expect(await buy("/v1/film")).to.deep.equal(REFUSAL);
    expect(await owned()).to.equal(had);
  });
});
