import { expect } from "chai";
import type { Draft } from "../../../runtime/core/set/draft.ts";
import { toFaultLine } from "../../../runtime/core/set/faults.ts";
import type { Manifest, RailManifest, SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { checkManifests } from "../../../runtime/core/set/manifests.ts";

const NO_SCHEMAS = { documents: new Map(), names: new Set<string>() };
const YEN_RAIL = { currency: "jpy", decimals: 18, title: "JPYC on Polygon" } as RailManifest;

const JOB = { eta_seconds: 9, deadline_seconds: 9, attempts: 1, concurrency: 1, queue_limit: 9, refund: false };

const locate = (): { line: number; column: number } => ({ line: 1, column: 1 });
const draft = (file: string, data: Partial<Manifest>): Draft => ({ file: `manifests/${file}`, data, locate });

function report(manifests: readonly Draft[], site?: Partial<SiteManifest>): string[] {
  const source = site && { file: "manifests/_site.yaml", data: site, locate };
  return checkManifests({ manifests, schemas: NO_SCHEMAS, ...(source && { site: source }) }).map(toFaultLine);
}

describe("manifests among each other", () => {
  it("may not have ids that differ only in capitals, which some file systems cannot tell apart", () => {
    expect(report([draft("Roll.yaml", { id: "Roll" }), draft("roll.yaml", { id: "roll" })])).to.deep.equal([
      'manifests/roll.yaml:1:1 duplicate-id id "roll": manifests/Roll.yaml has the same id but for capitals',
    ]);
  });

  it("are at fault for the id of another file, which is not at fault itself", () => {
    expect(report([draft("roll-2.yaml", { id: "roll" }), draft("roll.yaml", { id: "roll" })])).to.deep.equal([
      'manifests/roll-2.yaml:1:1 id-not-file-name id "roll": must be "roll-2", as its file is called',
    ]);
  });

  it("share no path, whatever the methods and the parameters' names", () => {
    const routes = [
      "GET /v1/jobs/{id}",
      "POST /v1/jobs/{name}",
      "GET /v1/jobs/all",
      "GET /v1/jobs/{id}/log",
      "GET /v1/jobs",
    ];
    const clashes = report(routes.map((route, at) => draft(`${at}.yaml`, { route })));
    expect(clashes.map((line) => line.split(":")[0])).to.deep.equal(["manifests/1.yaml", "manifests/2.yaml"]);
  });

  it("have no job that is polled where it is called by the same method", () => {
    const job = { ...JOB, status_route: "GET /v1/jobs/{job_id}" };
    const complaint =
      'manifests/roll.yaml:1:1 duplicate-route job.status_route "GET /v1/jobs/{job_id}": the service could not be called there, where a GET asks for a job';
    const [bought, polled] = ["POST /v1/jobs/{job_id}", job.status_route];
    expect(report([draft("roll.yaml", { route: polled, job })])).to.deep.equal([complaint]);
    expect(report([draft("roll.yaml", { route: bought, aliases: [polled], job })])).to.deep.equal([complaint]);
    expect(report([draft("roll.yaml", { route: bought, job })])).to.deep.equal([]);
  });

  it("need a rail for each price: dollars, or a yen tier of exactly this price", () => {
    const site = { rails: [YEN_RAIL], yen_tiers: { "0.010": "2" } };
    const priced = (price: string): string[] => report([draft("roll.yaml", { price })], site);
    expect(priced("0.01")).to.deep.equal([]);
    expect(priced("0.02")).to.deep.equal([
      'manifests/roll.yaml:1:1 no-rail price "0.02": no rail of _site.yaml can be paid with it: none counts dollars, and no currency has a tier for it',
    ]);
    expect(report([draft("roll.yaml", {})], site), "what is free needs none").to.deep.equal([]);
  });
});
