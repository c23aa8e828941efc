import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";

const toManifest = (id: string, proxy: string, output: string): string => `id: ${id}
title: Quote
description: The quote of a stock.
route: POST /v1/${id}
price: "0.002"
proxy: { upstream: exchange, request: POST /soap, encoding: text, headers: { content-type: text/xml }, body: "<q>{q}</q>"${proxy} }
input: { type: object, properties: { q: { type: string } }, required: [q] }
output: { ${output} }
tags: []
examples: [{ input: { q: A } }]
`;
const toEnvelope = (inner: string, namespace = "http://schemas.xmlsoap.org/soap/envelope/"): string =>
  `<?xml version="1.0"?>\n<s:Envelope xmlns:s="${namespace}">\n<s:Header/><s:Body>\n${inner}</s:Body></s:Envelope>`;
const FAULT = "<s:Fault><faultcode>s:Server</faultcode><faultstring>closed</faultstring></s:Fault>";

describe("a proxied service of a SOAP API", () => {
  let shop: ProxyShop;
  before(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(`{ id: exchange, title: The exchange, url: "${url}", retries: 0 }`),
        "manifests/file.yaml": toManifest("file", "", "media: text/xml"),
        "manifests/text.yaml": toManifest(
          "text",
          ", answer: { wrap: text }",
          "type: object, properties: { text: { type: string } }",
        ),
      }),
    });
  });
  after(() => shop.close());

  async function buy(service: string, body: string): Promise<[status: number, paid: number]> {
    shop.source.script({ headers: { "content-type": "text/xml; charset=utf-8" }, body });
    const before = shop.rail.moved.size;
    const { status } = await shop.buy(`/v1/${service}`, { q: "A" });
    return [status, shop.rail.moved.size - before];
  }

  for (const service of ["file", "text"])
    it(`is not charged for a fault that comes with status 200, as a ${service}`, async () => {
      expect(await buy(service, toEnvelope("<quote>1</quote>"))).to.deep.equal([200, 1]);
      expect(await buy(service, toEnvelope("<Fault/>", "urn:cars"))).to.deep.equal([200, 1]);
      expect(await buy(service, toEnvelope(FAULT))).to.deep.equal([502, 0]);
      const newer = toEnvelope("<s:Fault/>", "http://www.w3.org/2003/05/soap-envelope");
      expect(await buy(service, newer)).to.deep.equal([502, 0]);
    });
});
