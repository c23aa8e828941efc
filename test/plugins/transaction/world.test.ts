import { expect } from "chai";
import transaction from "../../../plugins/transaction/index.ts";
import { breaks, hangs, type Line, stalls } from "../../support/sources/scripted-source.ts";
import { createWorldClock } from "../../support/world/clock.ts";
import { askForPause, OVER_RATE_LIMIT } from "../../support/world/manners.ts";
import { openRecordedNode } from "../../support/world/recorded.ts";
import type { WorldSource } from "../../support/world/source.ts";
import { createHost, problemOf, type Reach, readManifest, type Serve, serve } from "../host.ts";

const CHAINS = ["base", "ethereum", "solana"] as const;
type Chain = (typeof CHAINS)[number];

const FAULTS: Readonly<Record<string, Line>> = {
  "status 503": 503,
  "a request for a pause": askForPause(60),
  "its rate limit in the body": OVER_RATE_LIMIT,
  "a page of HTML": "<html>Just a moment...</html>",
  "half of an answer": '{"jsonrpc":"2.0","id":1,"result":{"blockHash":',
  "the answer to another call": JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x2105" }),
  "an answer that is no JSON-RPC": "{}",
  "a refusal": JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32000, message: "missing trie node" } }),
  "a broken connection": breaks,
  "no answer": hangs,
  "the beginning of an answer": stalls,
};

describe("a transaction, and nodes as they are in the world", () => {
  const clock = createWorldClock();
  const inputs = new Map(
    readManifest("decode_tx").examples.map(({ input }) => [(input as { chain: Chain }).chain, input] as const),
  );
  const nodes = new Map<Chain, WorldSource>();
  let ask: Serve;
  beforeEach(async () => {
    for (const chain of CHAINS)
      nodes.set(
        chain,
        await openRecordedNode({ clock, files: [`plugins/transaction/recordings/${chain}/transactions.json`] }),
      );
    ask = await start();
  });
  afterEach(() => Promise.all(CHAINS.map((chain) => nodeOf(chain).close())));
  const nodeOf = (chain: Chain): WorldSource => nodes.get(chain) as WorldSource;

  function start(reach: Reach = {}): Promise<Serve> {
    const urls = Object.fromEntries(CHAINS.map((chain) => [chain, nodeOf(chain).url]));
    return serve("decode_tx", transaction, createHost({ clock }, { urls, pause: clock.pause, ...reach }));
  }

  for (const chain of CHAINS) {
    for (const [what, line] of Object.entries(FAULTS))
      it(`is not told, and not called unknown, when the node of ${chain} gives ${what}`, async () => {
        ask = await start({ timeoutMs: 200, retries: 0 });
        nodeOf(chain).behave({ fault: () => line });
        expect((await problemOf(ask(inputs.get(chain)))).code).to.equal("upstream-failed");
      });

    it(`is told when the node of ${chain} allows one call a second of each method`, async () => {
      const limit = { perSecond: 1, burst: 1 };
      nodeOf(chain).behave({
        rates: { eth_getTransactionByHash: limit, eth_getTransactionReceipt: limit, getTransaction: limit },
        refusal: askForPause(1),
      });
      for (let times = 0; times < 3; times += 1) expect(await ask(inputs.get(chain))).to.include({ chain });
      expect(nodeOf(chain).refused()).to.be.above(0);
    });

    it(`is told when each first answer of the node of ${chain} is broken`, async () => {
      nodeOf(chain).behave({ fault: ({ times }) => (times === 0 ? breaks : undefined) });
      expect(await ask(inputs.get(chain))).to.include({ chain });
    });
  }

  for (const method of ["eth_getTransactionReceipt", "eth_getBlockByHash", "eth_getTransactionByHash"])
    for (const chain of ["base", "ethereum"] as const)
      it(`is not told in part when the node of ${chain} has pruned what ${method} reads`, async () => {
        nodeOf(chain).behave({
          fault: ({ name }) => (name === method ? JSON.stringify({ jsonrpc: "2.0", id: 1, result: null }) : undefined),
        });
        expect((await problemOf(ask(inputs.get(chain)))).code).to.equal("upstream-failed");
      });

  it("may be one that the node keeps no history of, which a refusal says", async () => {
    const solana = nodeOf("solana");
    solana.behave({ fault: () => JSON.stringify({ jsonrpc: "2.0", id: 1, result: null }) });
    const { code, message } = await problemOf(ask(inputs.get("solana")));
    expect(code).to.equal("nothing-found");
    expect(message).to.match(/^The Solana node knows no transaction \w{80,}: .*too old for its history$/);
  });
});
