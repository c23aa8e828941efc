import { text } from "node:stream/consumers";
import { expect } from "chai";
import { toSandboxSources } from "../../../runtime/cli/sandbox/sources.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { type Files, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { toRequest } from "../../sandbox/recordings/stage.ts";
import { siteOf } from "../../support/sellers/site-of.ts";

const SHOP = { ...TOSS, "manifests/_site.yaml": siteOf("{ id: fx, title: FX, url: https://fx.test }") };
const CHAINS = { evm: new Map(), solana: new Map(), tokens: new Map() };

const recorded = (file: string, path: string, json: object): Files => {
  const exchanges = [{ case: "success", request: { method: "GET", path }, response: { json } }];
  return { [file]: JSON.stringify({ source: "a test", exchanges }) };
};

describe("the sources of a sandbox that sells an earlier set again", () => {
  it("answer from the recordings of its copy, and from those in the shop's folder that no copy has", async () => {
    const [home, dir] = await Promise.all([
      makeDirectory({
        ...SHOP,
        ...recorded("recordings/fx/rates.json", "/rates", { usd: 1 }),
        ...recorded("plugins/toss/recordings/fx/days.json", "/days", { day: "later" }),
      }),
      makeDirectory({ ...SHOP, ...recorded("plugins/toss/recordings/fx/days.json", "/days", { day: "earlier" }) }),
    ]);
    const set = await loadSet(dir, { home });
    const { sources } = toSandboxSources({
      set,
      own: { env: {}, llm: undefined },
      sandbox: { chains: CHAINS },
      online: false,
    });
    const send = sources.wrap(() => expect.fail("nothing is asked live"));
    const ask = async (path: string): Promise<string> => {
      const { body } = await send(toRequest(`https://fx.test${path}`, { upstream: "fx" }));
      return text(body as AsyncIterable<Buffer>);
    };
    expect([await ask("/rates"), await ask("/days")]).to.deep.equal(['{"usd":1}', '{"day":"earlier"}']);
  });
});
