import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { validate } from "@readme/openapi-parser";
import { expect } from "chai";
import { toSkill } from "../../runtime/surfaces/a2a/skills.ts";
import { createFolder } from "../support/folder.ts";
import { type Described, describeApi } from "./support/described.ts";
import { BASE_URL, FIXTURES, type Loose, type Shown, showSet } from "./support/fixture-set.ts";

const JOB = `id: search
title: A long search
description: Searches for a table for a long time.
route: POST /v1/search
price: "0.01"
handler: toss.search
input: TossRequest
output: Table
tags: [games]
category: games
examples:
  - input: { coins: 2 }
    output: { name: "7", seats: 2 }
job:
  status_route: GET /v1/search/status/{job_id}
  eta_seconds: 120
  deadline_seconds: 300
  attempts: 3
  concurrency: 2
  queue_limit: 100
  refund: true
`;
const FILM = JOB.replace("id: search", "id: film")
  .replaceAll("/v1/search", "/v1/film")
  .replace("input: TossRequest", "input: { title: Scene, type: object, properties: { coins: { type: integer } } }")
  .replace("output: Table", "output: { media: video/mp4, max_bytes: 1024 }")
  .replace(/ +output: \{ name.*\n/, "");
const ACCEPTED = {
  job_id: "3f0c7a52-6f0e-4c1b-9f64-0d7a4be21c55",
  status: "accepted",
  status_url: "https://x.example/1",
  eta_seconds: 120,
};
const NOTHING = {
  deliverable: null,
  eta_seconds: null,
  step: null,
  error: null,
  refund_tx: null,
  refund_pending: null,
};

describe("what is said of a job", () => {
  let dir: string;
  let shown: Shown;
  let api: Described;
  let paths: Loose;
  before(async () => {
    dir = createFolder();
    await cp(FIXTURES, dir, { recursive: true });
    await writeFile(join(dir, "manifests/search.yaml"), JOB);
    await writeFile(join(dir, "manifests/film.yaml"), FILM);
    shown = await showSet(dir);
    const document = shown.json("/openapi.json");
    api = describeApi(document);
    paths = document.paths;
  });

  describe("in openapi.json", () => {
    const schemaOf = (operation: Loose): Loose => operation.responses["200"].content["application/json"].schema;

    it("is valid OpenAPI 3.1", async () => {
      expect(await validate(shown.json("/openapi.json"))).to.deep.include({ valid: true });
    });

    it("is a paid operation that answers the accepted body", () => {
      const operation = paths["/v1/search"].post;
      expect(operation["x-payment-info"].price.amount).to.equal("0.010000");
      expect(api.faultsOf(schemaOf(operation), ACCEPTED)).to.equal("");
      expect(api.faultsOf(schemaOf(operation), { name: "7", seats: 2 })).not.to.equal("");
    });

    it("is followed by a free operation with the job's id in its path", () => {
      const operation = paths["/v1/search/status/{job_id}"].get;
      expect(operation).to.include({ operationId: "search_status" }).and.not.have.property("x-payment-info");
      expect(operation.security).to.deep.equal([]);
      expect(operation.parameters.map((field: Loose) => [field.name, field.in, field.required])).to.deep.equal([
        ["job_id", "path", true],
      ]);
      expect(Object.keys(operation.responses)).to.include("429").and.not.include("402");
    });

    it("is followed to a deliverable of the schema that the manifest names", () => {
      const schema = schemaOf(paths["/v1/search/status/{job_id}"].get);
      const delivered = { ...NOTHING, job_id: "1", status: "DELIVERED", deliverable: { name: "7", seats: 2 } };
      expect(api.faultsOf(schema, delivered)).to.equal("");
      expect(api.faultsOf(schema, { ...delivered, deliverable: { seats: "two" } })).not.to.equal("");
      expect(api.faultsOf(schema, { ...NOTHING, job_id: "1", status: "LOST" })).not.to.equal("");
      expect(JSON.stringify(api.resolve(schema).properties.deliverable)).to.include('"#/components/schemas/Table"');
    });

    it("shows how a job is accepted, and what the manifest's example delivers", () => {
      const shownIn = (operation: Loose): Loose => operation.responses["200"].content["application/json"].examples;
      const [accepted, status] = [paths["/v1/search"].post, paths["/v1/search/status/{job_id}"].get].map(
        (operation) => shownIn(operation).example1.value,
      );
      const status_url = `${BASE_URL}/v1/search/status/${accepted.job_id}`;
      expect(accepted).to.deep.equal({ ...ACCEPTED, status_url });
      const deliverable = { name: "7", seats: 2 };
      expect(status).to.deep.equal({ ...NOTHING, job_id: accepted.job_id, status: "DELIVERED", deliverable });
    });

    it("is linked with it, for clients that follow links", () => {
      const { operationId, parameters } = paths["/v1/search"].post.responses["200"].links.status;
      expect(operationId).to.equal(paths["/v1/search/status/{job_id}"].get.operationId);
      expect(parameters).to.deep.equal({ job_id: "$response.body#/job_id" });
    });
  });

  it("stands in the catalogue: what is sold, and what is asked for nothing", () => {
    const { services } = shown.json("/");
    const entries = services.filter(({ id }: Loose) => id.startsWith("search"));
    expect(entries.map(({ id, method, price_usd, path }: Loose) => [id, method, price_usd, path])).to.deep.equal([
      ["search", "POST", "0.01", "/v1/search"],
      ["search_status", "GET", null, "/v1/search/status/{job_id}"],
    ]);
    expect(
      services.find(({ id }: Loose) => id === "film"),
      "a schema of its own",
    ).to.have.property("input", "Scene");
  });

  it("stands in the route catalogue, with the status route among the free ones", () => {
    const { routes, resources, free_endpoints } = shown.json("/.well-known/x402");
    const [route] = routes.filter(({ id }: Loose) => id === "search");
    expect(route.output.schema.required).to.deep.equal(["job_id", "status_url"]);
    expect(resources).to.include(`${BASE_URL}/v1/search`).and.not.include(`${BASE_URL}/v1/search/status/{job_id}`);
    expect(free_endpoints.map(({ path }: Loose) => path)).to.include("/v1/search/status/{job_id}");
  });

  it("is explained to language models", async () => {
    const text = shown.text("/llms.txt");
    expect(text).to.match(/^- \[A long search\].*0\.01 USD/m);
    expect(text).to.match(/^- \[Status: A long search\]\(.*\/v1\/search\/status\/\{job_id\}\): GET, free\./m);
    expect(text).to.match(/`job_id` and a `status_url`/);
    expect((await showSet()).text("/llms.txt"), "where nothing is a job").not.to.include("job_id");
  });

  it("can be tried in the explorer, by both of its routes", () => {
    const page = shown.text("/docs/search") + shown.text("/docs/search_status");
    expect(page).to.include('data-id="search"').and.include('data-id="search_status"');
    expect(page).to.include('data-method="GET" data-path="/v1/search/status/{job_id}" data-parameters="job_id"');
  });

  it("is listed in directories by its accepted body, also when it delivers a file", () => {
    for (const id of ["search", "film"]) {
      const { required } = shown.offers.challenge(shown.service(id), `${BASE_URL}/v1/${id}`);
      const { info, schema } = (required.extensions as Loose).bazaar;
      expect(info.input.body).to.deep.equal({ coins: 2 });
      expect(schema.properties.output.properties.example.properties).to.have.all.keys(Object.keys(ACCEPTED));
    }
  });

  it("is a skill that says how long its task works, beside a free one", () => {
    expect(toSkill(shown.service("search")).description).to.match(/Costs 0\.01 USD .* A job of about 120 s/);
    expect(toSkill(shown.service("search_status")).description).to.match(/Free\.$/);
  });
});
