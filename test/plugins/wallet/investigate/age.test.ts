import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import fc from "fast-check";
import { readFirstSent } from "../../../../plugins/wallet/investigate/sources/first-sent.ts";
import { listenOnLoopback } from "../../../../runtime/sandbox/json-rpc.ts";
import { offline } from "../../../support/sources/replay.ts";
import { problemOf } from "../../host.ts";
import { newAddress, openHost } from "./stage.ts";

const signal = new AbortController().signal;
const GENESIS = 1_686_789_347;

describe("the age of an address on Base", () => {
  offline();
  let server: Server;
  let url: string;
  /** The chain: its height, the block that the address first sent in, and the oldest state that the node still has. */
  let chain = { height: 0, sentIn: 0, oldest: 0 };
  let asked: string[] = [];

  before(async () => {
    server = createServer(async (request, response) => {
      const { id, method, params } = JSON.parse(await text(request));
      asked.push(method);
      const place = params.find((value: unknown) => value === "latest" || /^0x[0-9a-f]{1,8}$/.test(String(value)));
      const block = place === "latest" ? chain.height : Number(place);
      const result =
        method === "eth_getTransactionCount"
          ? `0x${block >= chain.sentIn ? 5 : 0}`
          : { number: `0x${block.toString(16)}`, timestamp: `0x${(GENESIS + 2 * block).toString(16)}` };
      const error = { code: -32000, message: "missing trie node" };
      const isGone = method === "eth_getTransactionCount" && block < chain.oldest;
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(isGone ? { error } : { result }) }));
    });
    url = await listenOnLoopback(server);
  });
  after(() => server.close());
  beforeEach(() => {
    asked = [];
  });

  const read = () => readFirstSent(openHost({ base: url }).upstream("base"), newAddress(), signal);

  it("is history by the block in which it first sent something, wherever that is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(5000), fc.nat(5000), async (one, other) => {
        chain = { height: Math.max(one, other), sentIn: Math.min(one, other), oldest: 0 };
        expect(await read()).to.equal(GENESIS + 2 * chain.sentIn);
      }),
      { numRuns: 30 },
    );
  });

  it("takes some thirty questions on a chain of 40 million blocks", async () => {
    chain = { height: 40_000_000, sentIn: 23_456_789, oldest: 0 };
    expect(await read()).to.equal(GENESIS + 2 * chain.sentIn);
    expect(asked.length).to.be.below(32);
  });

  it("is not known for an address that never sent anything", async () => {
    chain = { height: 1000, sentIn: 1001, oldest: 0 };
    expect(await read()).to.equal(null);
  });

  it("is missing where the node has forgotten old states", async () => {
    chain = { height: 1000, sentIn: 10, oldest: 900 };
    expect(await problemOf(read())).to.include({ message: "Base node refused eth_getTransactionCount" });
  });
});
