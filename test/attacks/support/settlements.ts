import { expect } from "chai";
import type { SettleResponse } from "../../../runtime/core/x402/x402.ts";
import type { Shop } from "../../support/sellers/shop.ts";

/** From now on the facilitator refuses to settle. */
export function refuse({ rail }: Shop, errorReason: string, more: Partial<SettleResponse> = {}): void {
  rail.script.settle = (_payment, { network }) => ({
    success: false,
    errorReason,
    transaction: "",
    network,
    ...more,
  });
}

/** Expects an answer that neither takes the payment nor asks for another one. */
export async function expectUnknown(response: Response, what: string): Promise<void> {
  expect(response.status, what).to.equal(503);
  expect(response.headers.get("payment-required"), what).to.equal(null);
  expect(await response.json(), what).to.have.property("code", "settlement-unknown");
}
