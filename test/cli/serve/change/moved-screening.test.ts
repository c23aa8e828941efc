import { expect } from "chai";
import { edit, type Files, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
import { type OperatedShop, openOperatedShop } from "../../../support/sellers/operator.ts";
import { json, stockFetch } from "../../../support/sellers/stock-buyer.ts";

/** A shop whose service `look` says these facts about wallets, at an address of its own. */
const toShop = (path: string, facts: Readonly<Record<string, boolean>>): Files => ({
  ...edit(
    TOSS,
    "manifests/_site.yaml",
    "limits:",
    `screen: { service: look, refuse: [${Object.keys(facts)}] }\nlimits:`,
  ),
  "manifests/look.yaml": `id: look
title: Look
description: Looks at a wallet.
route: POST ${path}
handler: look.look
input: { type: object, properties: { wallet: { type: string } }, required: [wallet] }
output:
  type: object
  properties: { ${Object.keys(facts).map((name) => `${name}: { type: boolean }`)} }
tags: [wallets]
examples: [{ input: { wallet: "0x0000000000000000000000000000000000000001" } }]
`,
  "plugins/look.ts": `import { definePlugin } from "#plugin";

export default definePlugin("look", () => ({ look: () => (${JSON.stringify(facts)}) }));
`,
});

describe("a screening service that was moved", function () {
  this.timeout(120_000);
  let shop: OperatedShop;
  after(() => shop?.close());

  it("is asked as it is now, and not as it was at its old address", async () => {
    shop = await openOperatedShop(toShop("/v1/look", { sanctioned: false }));
    const pay = await stockFetch(shop.sandbox, "base");
    const buy = async (): Promise<readonly [number, string | undefined]> => {
      const response = await pay(`${shop.running.url}/v1/toss`, json({}));
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    expect(await buy()).to.deep.equal([200, undefined]);
    await writeFiles(shop.dir, toShop("/v2/look", { sanctioned: false, frozen: true }));
    await shop.running.changes.apply("test");
    expect(await buy()).to.deep.equal([403, "buyer-refused"]);
    await writeFiles(shop.dir, toShop("/v3/look", { frozen: false, sanctioned: false }));
    await shop.running.changes.apply("test");
    expect(await buy()).to.deep.equal([200, undefined]);
  });
});
