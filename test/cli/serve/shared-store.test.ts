import { expect } from "chai";
import { type Files, makeDirectory } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { withRedis } from "../../support/programs.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { type Seller, startSeller } from "../../support/sellers/seller.ts";
import { json, stockFetch } from "../../support/sellers/stock-buyer.ts";
import { startRedis } from "../../support/store/redis.ts";

const SITE = "manifests/_site.yaml";
/** On one rail, with which it starts sooner. */
const ON_BASE = toShop([]);

/** A set of the tests' shop that sells one job, which delivers its own name, or never ends. */
const toSet = (name: string): Files => ({
  [SITE]: ON_BASE[SITE] as string,
  [`manifests/${name}.yaml`]: `id: ${name}
title: ${name}
description: A job of one of two sets.
route: POST /v1/${name}
price: "0.01"
handler: ${name}.run
input: { type: object, properties: { endless: { type: boolean } } }
output: { type: object, properties: { by: { type: string } }, required: [by] }
tags: [tests]
job: { status_route: "GET /v1/${name}/{job_id}", eta_seconds: 1, deadline_seconds: 30, attempts: 1, concurrency: 2, queue_limit: 20, refund: false }
examples:
  - input: {}
    output: { by: "${name}" }
`,
  [`plugins/${name}.ts`]: `import { definePlugin } from "#plugin";

export default definePlugin("${name}", () => ({
  run: ({ endless }) => (endless ? new Promise(() => {}) : { by: "${name}" }),
}));
`,
  "manifests/errand.yaml": `id: errand
title: Errand
description: A job that both sets have, each with a field of its own.
route: POST /v1/errand
price: "0.01"
handler: errand.run
input: { type: object, properties: { ${name}: { type: string } } }
output: { type: object, properties: { by: { type: string } }, required: [by] }
tags: [tests]
job: { status_route: "GET /v1/errand/{job_id}", eta_seconds: 1, deadline_seconds: 30, attempts: 1, concurrency: 1, queue_limit: 20, refund: false }
examples:
  - input: {}
    output: { by: "${name}" }
`,
  "plugins/errand.ts": `import { setTimeout } from "node:timers/promises";
import { definePlugin } from "#plugin";

export default definePlugin("errand", () => ({
  async run({ ${name}: text }) {
    await setTimeout(500);
    return { by: "${name} " + text };
  },
}));
`,
});

const PLACES = {
  "a data directory": async () => ({ env: {}, stop: async () => {} }),
  "a Redis": async () => {
    const redis = await startRedis();
    return { env: { REDIS_URL: redis.url }, stop: redis.stop };
  },
};

for (const [name, prepare] of Object.entries(PLACES))
  (name === "a Redis" ? withRedis.describe : describe)(`two servers on ${name}`, function () {
    this.timeout(240_000);
    let place: Awaited<ReturnType<(typeof PLACES)["a data directory"]>>;
    /** In the tests' own process. */
    let left: OperatedShop;
    let right: Seller;
    before(async () => {
      place = await prepare();
      const { env } = place;
      left = await openOperatedShop(toSet("left"), env);
      const { sandbox, dataDir } = left;
      right = await startSeller({ sandbox, dataDir, env, dir: await makeDirectory(toSet("right")) });
    });
    after(async () => {
      await right?.kill();
      await left?.close();
      await place.stop();
    });

    it("of one shop, with different sets, do each job where it is offered, at once", async () => {
      const pay = await stockFetch(await sharedSandbox(), "base");
      const buy = async (url: string, service: string): Promise<string> => {
        const response = await pay(`${url}/v1/${service}`, json({}));
        expect(response.status).to.equal(200);
        const { status_url } = (await response.json()) as { status_url: string };
        return status_url;
      };
      const bought: string[] = [];
      for (let count = 0; count < 4; count += 1)
        bought.push(await buy(left.running.url, "left"), await buy(right.url, "right"));
      const statuses = async (): Promise<{ status: string; deliverable: { by: string } | null }[]> =>
        Promise.all(bought.map(async (url) => (await fetch(url)).json() as never));
      const began = performance.now();
      await eventually(async () => (await statuses()).every(({ status }) => status === "DELIVERED"));
      expect(performance.now() - began, "no job was delayed by the other set").to.be.below(50_000);
      expect((await statuses()).map(({ deliverable }) => deliverable?.by)).to.deep.equal(
        Array.from({ length: 4 }, () => ["left", "right"]).flat(),
      );
    });

    it("of one shop leave each other the jobs whose inputs only the other one takes", async () => {
      const pay = await stockFetch(await sharedSandbox(), "base");
      const bought: string[] = [];
      for (let count = 0; count < 6; count += 1) {
        const response = await pay(`${right.url}/v1/errand`, json({ right: `x${count}` }));
        bought.push(((await response.json()) as { status_url: string }).status_url);
      }
      type Status = { status: string; deliverable: { by: string } | null };
      const statuses = async (): Promise<Status[]> =>
        Promise.all(bought.map(async (url) => (await fetch(url)).json() as Promise<Status>));
      const areOver = (all: Status[]): boolean => all.every(({ status }) => /^(?:DELIVERED|FAILED)$/.test(status));
      const ended = await eventually(statuses, areOver, 600); // A job may be asked after 120 times a minute.
      expect(ended.map(({ deliverable }) => deliverable?.by)).to.deep.equal(bought.map((_, at) => `right x${at}`));
    });

    it("count the jobs of all, also of one that is gone", async () => {
      const pay = await stockFetch(await sharedSandbox(), "base");
      expect((await pay(`${right.url}/v1/right`, json({ endless: true }))).status).to.equal(200);
      await right.kill();
      const { out } = await runPayphone(["status"], { PAYPHONE_DATA_DIR: left.dataDir, ...place.env });
      expect(out, out).to.match(/^jobs {5}errand 0, left 0, right 1$/m);
    });
  });
