import { expect } from "chai";

/** Expects an answer that neither takes the payment nor asks for another one. */
export async function expectUnknown(response: Response, what: string): Promise<void> {
  expect(response.status, what).to.equal(503);
  expect(response.headers.get("payment-required"), what).to.equal(null);
  expect(await response.json(), what).to.have.property("code", "settlement-unknown");
}
