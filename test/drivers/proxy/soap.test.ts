import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import type { Asked } from "../../support/sources/scripted-source.ts";

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
const STRICT_TYPE = 'headers: { content-type: text/xml; charset="utf-8" }';
const INNER = '<q><![CDATA[<stock name="{q}"/>]]></q>';
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
        "manifests/utf8.yaml": toManifest("utf8", "", "media: text/xml").replace(
          "headers: { content-type: text/xml }",
          STRICT_TYPE,
        ),
        "manifests/inner.yaml": toManifest("inner", "", "media: text/xml").replace('"<q>{q}</q>"', `'${INNER}'`),
      }),
    });
  });
  after(() => shop.close());

  async function buy(service: string, body: string, q = "A"): Promise<[status: number, paid: number]> {
    shop.source.script({ headers: { "content-type": "text/xml; charset=utf-8" }, body });
    const before = shop.rail.moved.size;
    const { status } = await shop.buy(`/v1/${service}`, { q });
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

  it("sends UTF-8 under any spelling of it", async () => {
    expect(await buy("utf8", toEnvelope("<quote>1</quote>"), '"ü"')).to.deep.equal([200, 1]);
    const { headers, body } = shop.source.asked.at(-1) as Asked;
    expect(headers["content-type"]).to.equal('text/xml; charset="utf-8"');
    expect(body).to.equal("<q>&#34;ü&#34;</q>");
  });

  it("sends a document in a CDATA section, whose values are escaped for it", async () => {
    expect(await buy("inner", toEnvelope("<quote>1</quote>"), '"A" & B')).to.deep.equal([200, 1]);
    expect(shop.source.asked.at(-1)?.body).to.equal('<q><![CDATA[<stock name="&#34;A&#34; &#38; B"/>]]></q>');
  });
});
