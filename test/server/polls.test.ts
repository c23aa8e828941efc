import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { type JobShop, openJobShop } from "../support/sellers/job-shop.ts";
import type { Loose } from "../surfaces/mcp/served/support/stall.ts";

describe("a job over HTTP", () => {
  let shop: JobShop;
  beforeEach(async () => {
    shop = await openJobShop();
  });
  afterEach(() => shop.close());

  it("is accepted once it is paid, and polled for nothing at the address that it names", async () => {
    const { job_id, ...accepted } = await shop.buy("/v1/search", { what: "needle" });
    expect(accepted).to.deep.equal({
      status: "accepted",
      status_url: `${shop.url}/v1/search/${job_id}`,
      eta_seconds: 120,
    });
    const poll = async (): Promise<Loose> => (await fetch(accepted.status_url)).json();
    const running = await eventually(poll, ({ status }) => status === "IN_PROGRESS");
    expect(running).to.include({ job_id, step: "looking around", deliverable: null });
    shop.deliver(({ what }) => ({ verdict: `found the ${what}` }));
    const done = await eventually(poll, ({ status }) => status === "DELIVERED");
    expect(done.deliverable).to.deep.equal({ verdict: "found the needle" });
  });

  it("is told of 120 times a minute, whoever asks; other jobs are told of meanwhile", async () => {
    const [job, other] = [await shop.buy("/v1/search", { what: "a" }), await shop.buy("/v1/search", { what: "b" })];
    const statuses = await Promise.all(Array.from({ length: 125 }, async () => (await fetch(job.status_url)).status));
    expect(statuses.filter((status) => status === 200)).to.have.length(120);
    expect(statuses.filter((status) => status === 429)).to.have.length(5);
    const refused = await fetch(job.status_url);
    expect(Number(refused.headers.get("retry-after"))).to.be.within(1, 60);
    expect(await refused.json())
      .to.include({ code: "rate-limited" })
      .and.have.property("detail")
      .match(/This job/);
    expect((await fetch(other.status_url)).status).to.equal(200);
  });

  it("is found by its id in capitals, and told of as often in all", async () => {
    const { job_id } = await shop.buy("/v1/search", { what: "needle" });
    const ask = (id: string): Promise<Response> => fetch(`${shop.url}/v1/search/${id}`);
    expect(await (await ask(job_id.toUpperCase())).json()).to.include({ job_id, error: null });
    const ids = Array.from({ length: 120 }, (_, at) => (at % 2 === 0 ? job_id : job_id.toUpperCase()));
    const statuses = await Promise.all(ids.map(async (id) => (await ask(id)).status));
    expect(statuses.filter((status) => status === 429)).to.have.length(1);
  });

  it("is unknown under any other id, and by the route of another service", async () => {
    const { job_id } = await shop.buy("/v1/search", { what: "needle" });
    expect(job_id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    for (const path of ["/v1/search/3f0c7a52-6f0e-4c1b-9f64-0d7a4be21c55", `/v1/errand/${job_id}`]) {
      const response = await fetch(shop.url + path);
      expect(response.status).to.equal(200);
      expect(await response.json()).to.include({ status: "UNKNOWN", error: "job_not_found" });
    }
  });
});
