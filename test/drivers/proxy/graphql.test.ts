import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";

const toManifest = (id: string, output: string, more = ""): string => `id: ${id}
title: User
description: A user of the hub.
route: POST /v1/${id}
price: "0.002"
proxy:
  upstream: hub
  request: POST /graphql
  body: { query: "query ($id: ID) {{ user(id: $id) {{ name }} }}", variables: { id: "{id}" } }
${more}input: { type: object, properties: { id: { type: string } }, required: [id] }
output: { type: object, ${output} }
tags: []
examples: [{ input: { id: a } }]
`;
const USER = "properties: { user: { type: [object, 'null'] } }";

describe("a proxied service of a GraphQL API", () => {
  let shop: ProxyShop;
  before(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(`{ id: hub, title: The hub, url: "${url}", retries: 0 }`),
        "manifests/named.yaml": toManifest("named", `properties: { data: { type: object, ${USER} } }`),
        "manifests/nullable.yaml": toManifest("nullable", `properties: { data: { type: [object, 'null'], ${USER} } }`),
        "manifests/open.yaml": toManifest("open", "additionalProperties: true"),
        "manifests/strict.yaml": toManifest("strict", "additionalProperties: true", "  answer: { failed: /errors }\n"),
      }),
    });
  });
  after(() => shop.close());

  async function buy(service: string, answer: string): Promise<[status: number, body: object, paid: number]> {
    shop.source.script(answer);
    const before = shop.rail.moved.size;
    const response = await shop.buy(`/v1/${service}`, { id: "a" });
    return [response.status, (await response.json()) as object, shop.rail.moved.size - before];
  }

  it("is not charged for errors in the place of data, whose first is told", async () => {
    for (const service of ["named", "nullable", "open", "strict"]) {
      const [status, body, paid] = await buy(service, '{"data":null,"errors":[{"message":"no such user"}]}');
      expect([status, paid], service).to.deep.equal([400, 0]);
      expect(body).to.have.property("detail", "The hub: no such user");
    }
  });

  it("sells data, also beside errors of a part where the manifest does not call these a failure", async () => {
    const part = '{"data":{"user":null},"errors":[{"message":"not yours"}]}';
    expect(await buy("named", part)).to.deep.equal([200, { data: { user: null } }, 1]);
    expect((await buy("strict", part)).filter(Number.isInteger)).to.deep.equal([400, 0]);
    expect((await buy("open", '{"data":null,"errors":[]}'))[0]).to.equal(200);
    expect((await buy("open", '{"errors":[{"message":"a finding"}]}'))[0]).to.equal(200);
  });
});
