import { createWholeShop } from "../../attacks/support/whole-shop.ts";
import { announce } from "./announce.ts";

/** Every service of this repository. Payments are good when their signature is of zeros. */
await announce(async (baseUrl) => {
  const { listener } = await createWholeShop(baseUrl, {
    verify: ({ payload }) =>
      /^0x0+$/.test(String(payload.signature))
        ? { isValid: true, payer: `0x${"1".repeat(40)}` }
        : { isValid: false, invalidReason: "invalid_signature" },
    limits: { calls_per_payer: 10_000 },
  });
  return listener;
});
