import { expect } from "chai";
import wallet from "../../../../plugins/wallet/index.ts";
import type { RpcAnswer, Upstream } from "../../../../runtime/api/plugin.ts";
import { offline, replayAlways } from "../../../support/sources/replay.ts";
import { createHost, problemOf, type Reach, type Serve, serve } from "../../host.ts";

const NAMES = {
  "vitalik.eth": { node: "ethereum", address: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045" },
  "bonfida.sol": { node: "solana", address: "HKKp49qGWXd639QsuH7JiLijfVW5UtCVY4s1n2HANwEA" },
} as const;
const URLS = { ethereum: "https://ethereum.test", solana: "https://solana.test" };

describe("a name, and the node that knows it", () => {
  offline();
  let resolve: Serve;
  const start = (reach: Reach = {}): Promise<Serve> =>
    serve("resolve_name", wallet, createHost({}, { urls: URLS, retries: 0, ...reach }));
  beforeEach(async () => {
    resolve = await start();
  });
  const answer = (node: keyof typeof URLS, kind: string): unknown =>
    replayAlways(URLS[node], `plugins/wallet/recordings/${node}/names.json`, [kind]);

  for (const [name, { node, address }] of Object.entries(NAMES)) {
    it(`${name} leads to what ${node} has recorded`, async () => {
      answer(node, "success");
      const { addresses, notes } = await resolve({ name });
      expect(addresses).to.deep.equal([{ chain: node, address, ttl_hint_seconds: 300 }]);
      expect(notes).to.equal(null);
    });

    for (const kind of ["error", "rate-limit", "slow", "malformed"])
      it(`${name} costs nothing when ${node} gives "${kind}"`, async () => {
        answer(node, kind);
        const ask = kind === "slow" ? await start({ timeoutMs: 100 }) : resolve;
        const { code, message } = await problemOf(ask({ name }));
        expect(code).to.equal("upstream-failed");
        expect(message).to.match(/^(Ethereum|Solana) node /);
      });
  }

  for (const name of Object.keys(NAMES))
    it(`${name} costs nothing when its node answers something else`, async () => {
      for (const result of [null, "", "hello", "0x", "0x00", 7, {}, { value: [] }, { value: [1, 2, 3, 4, 5] }]) {
        const node = { title: "A node", rpc: async (): Promise<RpcAnswer> => ({ result }) } as unknown as Upstream;
        const ask = await serve("resolve_name", wallet, createHost({ upstream: () => node }));
        expect((await problemOf(ask({ name }))).code, JSON.stringify(result)).to.equal("upstream-failed");
      }
    });

  it("says how long to wait when the node has said it", async () => {
    answer("solana", "rate-limit");
    expect((await problemOf(resolve({ name: "bonfida.sol" }))).options.retryAfter).to.equal(1);
  });

  it("leads nowhere when neither registry has an entry", async () => {
    answer("ethereum", "empty");
    answer("solana", "empty");
    for (const tld of ["eth", "sol"]) {
      const name = `nobody-has-this-name.${tld}`;
      expect(await resolve({ name })).to.deep.include({ addresses: [], notes: `${name} is not registered.` });
    }
  });
});
