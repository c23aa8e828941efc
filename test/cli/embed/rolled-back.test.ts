import { createServer } from "node:http";
import { expect } from "chai";
import { openPayphone } from "../../../runtime/cli/embed/embed.ts";
import { apply, rollBack } from "../../../runtime/cli/operate/changes.ts";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { edit, makeDirectory, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { createFolder } from "../../support/folder.ts";
import { untilRailsUp } from "../../support/sellers/rails-up.ts";

describe("a shop in another server", () => {
  const data = createFolder();

  it("sells what it was rolled back to also when its server starts again", async () => {
    const [sandbox, dir] = await Promise.all([sharedSandbox(), makeDirectory(TOSS)]);
    const host = createServer((request, response) => shop.listener(request, response));
    const base = await listenOnLoopback(host);
    const env = { ...sandbox.env, PUBLIC_BASE_URL: base, PAYPHONE_DATA_DIR: data, LOG_LEVEL: "silent" };
    let shop = openPayphone({ dir, env });
    const asked = async (): Promise<string | undefined> => {
      await untilRailsUp(base);
      const challenge = await (await fetch(`${base}/v1/toss`, { method: "POST" })).text();
      return /"amount":"(\d+)"/.exec(challenge)?.[1];
    };
    await shop.start();
    await writeFiles(dir, edit(TOSS, "manifests/toss.yaml", "0.01", "0.90"));
    await apply({ dataDir: data });
    expect(await asked()).to.equal("900000");
    await rollBack({ dataDir: data }, 1);
    await shop.close();
    shop = openPayphone({ dir, env });
    await shop.start();
    expect(await asked()).to.equal("10000");
    const { warnings = [] } = (await (await fetch(`${base}/ready`)).json()) as { readonly warnings?: string[] };
    expect(warnings[0]).to.match(/was taken back at/);
    await shop.close();
    host.close();
  });
});
