import { expect } from "chai";
import { readConfig } from "../../../../runtime/cli/config/config.ts";
import { type Running, run } from "../../../../runtime/cli/serve/run.ts";
import { loadSet } from "../../../../runtime/cli/set/load.ts";
import {
  edit,
  type Files,
  makeDirectory,
  removeDirectories,
  TOSS,
  writeFiles,
} from "../../../core/set/served-directory.ts";
import { sharedSandbox } from "../../../support/chains/chains.ts";
import { untilRailsUp } from "../../../support/sellers/rails-up.ts";
import { createDataDir } from "../../../support/sellers/seller.ts";
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
  const data = createDataDir();
  let running: Running;
  after(async () => {
    await running.close();
    data.remove();
    await removeDirectories();
  });

  it("is asked as it is now, and not as it was at its old address", async () => {
    const dir = await makeDirectory(toShop("/v1/look", { sanctioned: false }));
    const sandbox = await sharedSandbox();
    const env = { ...sandbox.env, PAYPHONE_DATA_DIR: data.path, PORT: "0", LOG_LEVEL: "silent" };
    running = await run({ set: await loadSet(dir), config: readConfig(env) });
    await untilRailsUp(running.url);
    const pay = await stockFetch(sandbox, "base");
    const buy = async (): Promise<readonly [number, string | undefined]> => {
      const response = await pay(`${running.url}/v1/toss`, json({}));
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    expect(await buy()).to.deep.equal([200, undefined]);
    await writeFiles(dir, toShop("/v2/look", { sanctioned: false, frozen: true }));
    await running.changes.apply("test");
    expect(await buy()).to.deep.equal([403, "buyer-refused"]);
    await writeFiles(dir, toShop("/v3/look", { frozen: false, sanctioned: false }));
    await running.changes.apply("test");
    expect(await buy()).to.deep.equal([200, undefined]);
  });
});
