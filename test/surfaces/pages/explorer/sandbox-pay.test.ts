import { decodePaymentSignatureHeader } from "@x402/core/http";
import { expect } from "chai";
import { rail } from "../../../support/chains/chains.ts";
import { jsonOf } from "../../../support/http.ts";
import { withBrowser } from "../../../support/programs.ts";
import { json } from "../../../support/sellers/stock-buyer.ts";
import { DESKTOP, openVisits } from "./support/browser.ts";
import { type Counter, sharedCounter } from "./support/counter.ts";

withBrowser.describe("the page of a service that is named like a script", () => {
  const visit = openVisits();

  it("has play money that pays, too", async () => {
    const { url } = await sharedCounter(true);
    const page = await visit(`${url}/robots.txt`, DESKTOP);
    await page.route("**/docs/services/roll.js", async (route) =>
      route.fulfill({ response: await route.fetch({ url: `${url}/docs/roll` }) }),
    );
    await page.goto(`${url}/docs/services/roll.js`);
    await page.locator("#roll button[type=submit]").click();
    await page.getByRole("button", { name: "Pay with play money" }).click();
    const end = page.getByText(/^200 OK|could not be signed/).first();
    expect(await end.innerText()).to.match(/^200 OK/);
  });
});

describe("the sandbox's signing for everybody", () => {
  let counter: Counter;
  let challenge: { accepts: { network: string }[] };
  before(async () => {
    counter = await sharedCounter(true);
    challenge = await jsonOf(await fetch(`${counter.url}/v1/roll`, { method: "POST" }));
  });
  const ask = (body: unknown): Promise<Response> => fetch(`${counter.url}/sandbox/pay`, json(body));

  for (const id of ["base", "solana", "polygon"]) {
    it(`makes a payment that is good for one call: ${rail(id).title}`, async () => {
      const accepts = challenge.accepts.filter(({ network }) => network === rail(id).network);
      const { payment } = await jsonOf<{ payment: string }>(await ask({ ...challenge, accepts }));
      expect(decodePaymentSignatureHeader(payment).accepted).to.deep.equal(accepts[0]);
      const { headers, ...call } = json({ low: 1, high: 1 });
      const paid = { ...call, headers: { ...(headers as object), "payment-signature": payment } };
      expect((await fetch(`${counter.url}/v1/roll`, paid)).status).to.equal(200);
    });
  }

  it("refuses what is no challenge, and what is not the sandbox's to pay", async () => {
    const elsewhere = [{ ...challenge.accepts[0], network: "eip155:1" }];
    for (const body of [undefined, null, {}, [], { x402Version: 1 }, { ...challenge, accepts: elsewhere }]) {
      const response = await ask(body);
      expect(response.status, JSON.stringify(body)).to.equal(400);
      expect(response.headers.get("content-type")).to.equal("application/problem+json");
      expect(await jsonOf(response)).to.include({ code: "bad-request" });
    }
  });
});
