import { cpSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { createFolder } from "../support/folder.ts";
import type { SandboxServer } from "../support/sellers/sandbox-server.ts";
import { sharedSandboxServer } from "../support/sellers/shared-sandbox-server.ts";
import { buyerFetch, receiptOf } from "../support/sellers/stock-buyer.ts";
import { runIn } from "./installed.ts";
import { installPinned } from "./pinned.ts";

/** The generators, pinned, and a buyer's program around what they make. */
const FIXTURE = join(import.meta.dirname, "../fixtures/generated-clients");

interface Bought {
  readonly posted: { readonly result: readonly number[]; readonly response: Response };
  readonly got: { readonly usd: number; readonly response: Response };
}

type Buy = (baseUrl: string, paying: typeof fetch) => Promise<Bought>;

describe("a client generated from /openapi.json", () => {
  const home = createFolder();
  let sandbox: SandboxServer;
  let paying: typeof fetch;
  before(async function () {
    this.timeout(300_000);
    cpSync(FIXTURE, home, { recursive: true });
    renameSync(join(home, "buy.ts.txt"), join(home, "buy.ts")); // Nothing checks it where there is no client yet.
    const modules = await installPinned(FIXTURE);
    if (modules === undefined) return this.skip(); // npm's registry cannot be reached.
    symlinkSync(modules, join(home, "node_modules"));
    sandbox = await sharedSandboxServer();
    writeFileSync(join(home, "openapi.json"), await (await fetch(`${sandbox.url}/openapi.json`)).text());
    paying = (await buyerFetch(sandbox)) as typeof fetch; // It takes what fetch takes.
  });

  it("compiles under strict, and has the compiler find mistakes", async function () {
    this.timeout(120_000);
    for (const command of [
      "openapi-typescript openapi.json -o made/openapi-typescript.ts --default-non-nullable false",
      "openapi-ts",
      "tsc --project .",
    ]) {
      const { code, said } = await runIn(home, `node_modules/.bin/${command}`);
      expect(code, said).to.equal(0);
    }
  });

  for (const [name, exported] of [
    ["openapi-typescript and openapi-fetch", "buyWithOpenapiFetch"],
    ["hey-api", "buyWithHeyApi"],
  ] as const)
    it(`buys by POST and by GET with a paying fetch, by ${name}`, async () => {
      const built: Record<string, Buy> = await import(pathToFileURL(join(home, "built/buy.js")).href);
      const { posted, got } = (await built[exported]?.(sandbox.url, paying)) ?? expect.fail("nothing was exported");
      expect(posted.result[0]).to.be.within(1, 6);
      expect(got.usd).to.be.above(0);
      for (const { response } of [posted, got])
        expect(receiptOf(response)).to.include({ success: true, network: "eip155:8453" });
      expect(receiptOf(posted.response).transaction).not.to.equal(receiptOf(got.response).transaction);
    });
});
