import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import type { Asked } from "../../support/sources/scripted-source.ts";

const toManifest = (id: string, proxy: string, more = ""): string => `id: ${id}
title: Issue
description: Changes an issue; null clears its milestone.
route: POST /v1/${id}
price: "0.001"
proxy: { upstream: hub, ${proxy} }
${more}input:
  type: object
  properties:
    title: { type: string }
    milestone: { type: [integer, "null"] }
    sort: { type: [string, "null"] }
output: { type: object, properties: { ok: { type: boolean } } }
tags: []
examples: [{ input: { title: A title } }]
`;
const FIRST = "charge: first\n";
const JOB =
  "job: { status_route: 'GET /v1/work/{job_id}', eta_seconds: 1, deadline_seconds: 9, attempts: 1, concurrency: 1, queue_limit: 5, refund: false }\n";

describe("null in an input that is passed on", () => {
  let shop: ProxyShop;
  before(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(`{ id: hub, title: The hub, url: "${url}", retries: 0 }`),
        "manifests/whole.yaml": toManifest(
          "whole",
          'request: PATCH /issue, query: { sort: "{sort}" }, body: input',
          FIRST,
        ),
        "manifests/part.yaml": toManifest(
          "part",
          'request: PATCH /issue, query: { sort: "{sort}" }, body: { title: "{title}", milestone: "{milestone}" }',
          FIRST,
        ),
        "manifests/alone.yaml": toManifest(
          "alone",
          'request: PUT /issue, body: "{milestone}", query: { t: "{title}", s: "{sort}" }',
          FIRST,
        ),
        "manifests/named.yaml": toManifest("named", 'request: "GET /{title}-{sort}", query: { m: "{milestone}" }')
          .replace("output:", "  required: [title, sort]\noutput:")
          .replace("A title }", "A title, sort: up }"),
        "manifests/form.yaml": toManifest("form", "request: POST /issue, encoding: form, body: input"),
        "manifests/work.yaml": toManifest("work", 'request: POST /issue, query: { sort: "{sort}" }, body: input', JOB),
      }),
    });
    shop.source.script('{"ok":true}');
  });
  after(() => shop.close());

  /** What the API is asked by a call. */
  async function sent(service: string, input: object): Promise<string> {
    const count = shop.source.asked.length;
    const answer = await shop.buy(`/v1/${service}`, input);
    expect(answer.ok, await answer.text()).to.equal(true);
    await eventually(() => shop.source.asked.length > count);
    const { path, body } = shop.source.asked[count] as Asked;
    return `${path} ${body}`;
  }

  it("reaches the API where the schema allows it, and means absent elsewhere", async () => {
    const input = { title: null, milestone: null, sort: null };
    for (const service of ["whole", "part", "work"])
      expect(await sent(service, input), service).to.equal('/issue {"milestone":null}');
    expect(await sent("form", { ...input, title: "x" })).to.equal("/issue title=x");
    expect(await sent("part", {})).to.equal("/issue {}");
    expect(await sent("alone", { milestone: null })).to.equal("/issue null");
    expect(await sent("alone", {})).to.equal("/issue ");
  });

  it("is refused by its own name in a segment of a path that has several fields", async () => {
    const { detail } = (await (await shop.buy("/v1/named", { title: "x", sort: null })).json()) as {
      detail: { loc: string[]; msg: string }[];
    };
    expect(detail.map(({ loc }) => loc)).to.deep.equal([["body", "sort"]]);
    expect(detail[0]?.msg).to.match(/it stands in a path and must not be empty$/);
  });
});
