import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { expect } from "chai";
import { type Hex, verifyMessage } from "viem";
import { Problem } from "../../../../runtime/api/plugin.ts";
import { sharedSandbox, type TestSandbox } from "../../../support/chains/chains.ts";
import { startRpcProxy } from "../../../support/chains/rpc-proxy.ts";
import { offline } from "../../../support/sources/replay.ts";
import { faultsOf, problemOf, TREASURY } from "../../host.ts";
import { DEAD, type Investigated, LAZARUS, newAddress, open, openHost, pay, present, transfer } from "./stage.ts";

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
type Json = Readonly<Record<string, unknown>>;

describe("an investigation of an address on Base", () => {
  offline();
  let sandbox: TestSandbox;
  before(async () => {
    sandbox = await sharedSandbox();
  });

  const openOnBase = () => openHost({ base: sandbox.base.url }, { clock: present() });

  describe("of somebody who pays a friend, who pays others", () => {
    const [subject, friend, stranger] = [newAddress(), newAddress(), newAddress()];
    let host: ReturnType<typeof openHost>;
    let found: Investigated;
    before(async () => {
      await pay(sandbox, subject, friend, 12.5);
      await pay(sandbox, subject, friend, 7.5);
      await pay(sandbox, friend, stranger, 3);
      await pay(sandbox, stranger, newAddress(), 2);
      host = openOnBase();
      found = await (await open(host))(subject);
    });

    it("follows the money two hops deep, and no further", () => {
      const { nodes, flows, counterparties } = found.data.graph;
      expect(nodes.map(({ address, hop }) => [address, hop])).to.deep.equal([
        [subject, 0],
        [friend, 1],
        [stranger, 2],
      ]);
      expect(flows.map(({ from, to, amount }) => [from, to, amount])).to.have.deep.members([
        [subject, friend, "20"],
        [friend, stranger, "3"],
      ]);
      for (const flow of flows)
        expect(flow).to.have.all.keys("from", "to", "asset", "amount", "largest", "count", "firstAt", "lastAt");
      expect(counterparties).to.equal(1);
    });

    it("sums up what went in and out, to the last unit", () => {
      expect(found.data.movements).to.deep.include({ senders: 1, recipients: 1, isWhole: true });
      expect(found.data.movements?.volumes).to.deep.equal([
        { asset: "USDC", received: "20", sent: "20", receivedCount: 2, sentCount: 2 },
      ]);
    });

    it("names every source that failed, and is not sure of the rest", () => {
      const { missing, verdict, provisional, reasons } = found.data;
      expect(missing.map(({ source }) => source)).to.include.members([
        "eth_eth",
        "ens_name",
        "names of counterparties",
      ]);
      expect(missing.find(({ source }) => source === "GoPlus")?.message).to.match(/ about 3 of 3 addresses$/);
      expect(found.report).to.include("**Verdict: inconclusive.**");
      expect(found.report).to.include("eth\\_eth | Ethereum node ");
      expect(reasons).to.deep.equal([]);
      expect([verdict, provisional]).to.deep.equal(["inconclusive", true]);
    });

    it("is signed over what its own recipe names, and anchors the root of both files", async () => {
      const { deliverable, report, page } = found;
      const dataFile = host.published.get(String(deliverable.reportJsonUrl))?.body ?? "";
      const data = JSON.parse(String(dataFile)) as Json;
      const [report_sha256, data_sha256] = [sha256(report), sha256(dataFile)];
      const merkle_root = sha256(Buffer.from(report_sha256 + data_sha256, "hex"));
      const digests: Readonly<Record<string, unknown>> = { report_sha256, data_sha256, merkle_root };
      const [, recipe = ""] = report.split("## How to verify");
      const [, domain, names = ""] = /\{"domain":"(.*?)",(.*?)\}/.exec(recipe) ?? [];
      const places = new Map([...recipe.matchAll(/`(\w+)` as `([\w.]+)`/g)].map(([, name, place]) => [name, place]));
      const read = (name: string): unknown =>
        (places.get(name) ?? name).split(".").reduce((part: unknown, key) => (part as Json)[key], data);
      const said = names.split(",").map((name) => [name, digests[name] ?? read(name)]);
      const statement = { domain, ...Object.fromEntries(said) };
      const message = canonicalize(statement) ?? "";
      expect(deliverable).to.include({ merkleRoot: merkle_root, signedBy: TREASURY.address, score: statement.score });
      expect(
        await verifyMessage({ address: TREASURY.address, message, signature: deliverable.signature as Hex }),
      ).to.equal(true);
      expect(host.chain.get(String(deliverable.baseAnchorTx))?.input).to.equal(`0x${merkle_root}`);
      for (const proof of [merkle_root, String(deliverable.signature), report_sha256, data_sha256])
        expect(page).to.include(proof);
    });
  });

  it("is critical for an address that OFAC lists", async () => {
    const { data } = await (await open(openOnBase()))(LAZARUS);
    expect(data).to.include({ score: 100, verdict: "critical" });
    expect(data.reasons[0]).to.include({ code: "sanctioned", points: 100 });
  });

  it("is high for whoever paid a sanctioned address, and names it to whoever deals with such a payer", async () => {
    const [payer, neighbour] = [newAddress(), newAddress()];
    await pay(sandbox, neighbour, payer, 50);
    await transfer(sandbox, payer, LAZARUS, 40_000_000n);
    const investigate = await open(openOnBase());
    const [guilty, near] = [await investigate(payer), await investigate(neighbour)];
    expect(guilty.data.reasons.map(({ code }) => code)).to.include("paid_sanctioned");
    expect(guilty.data.verdict).to.equal("high");
    expect(near.data.reasons.map(({ code }) => code)).to.deep.equal(["near_sanctioned"]);
  });

  it("holds nobody guilty for a few cents that a sanctioned address has sent", async () => {
    const [victim, friend] = [newAddress(), newAddress()];
    await pay(sandbox, victim, friend, 30);
    await pay(sandbox, LAZARUS, victim, 0.01);
    const investigate = await open(openOnBase());
    const codesOf = ({ data }: Investigated): string[] => data.reasons.map(({ code }) => code);
    expect(codesOf(await investigate(victim))).to.have.members(["dusted_by_sanctioned"]);
    expect(codesOf(await investigate(friend))).to.have.members([]);
  });

  it("narrows its searches for a node that refuses wide ones, and finds the same", async () => {
    const [subject, friend] = [newAddress(), newAddress()];
    await pay(sandbox, subject, friend, 5);
    for (let block = 0; block < 40; block += 1) await sandbox.base.rpc("evm_mine", []);
    const proxy = await startRpcProxy(sandbox.base.url);
    let refused = 0;
    proxy.intervene((method) => {
      const [asked] = proxy.params.at(-1) as [{ fromBlock: Hex; toBlock: Hex }];
      if (method !== "eth_getLogs" || Number(asked.toBlock) - Number(asked.fromBlock) < 20) return "pass";
      refused += 1;
      const error = { code: -32602, message: "query exceeds max block range 20" };
      return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, error }) };
    });
    const { data } = await (await open(openHost({ base: proxy.url }, { clock: present() })))(subject);
    await proxy.stop();
    expect(data.graph.flows).to.have.lengthOf(1);
    expect(refused).to.be.greaterThan(0);
  });

  it("fails, to be paid back, when balances cannot be read", async () => {
    const investigate = await open(openHost({ base: DEAD }));
    const problem = await problemOf(investigate(newAddress()));
    expect(problem).to.include({ code: "upstream-failed" });
    expect(problem.message).to.match(/^No (source|balances) could be read: /);
  });

  it("ends when its call is ended, and makes no report of what it has", async () => {
    const ended = new AbortController();
    const host = openOnBase();
    const investigate = await open(host);
    const reason = new Problem("deadline-exceeded");
    const report = (progress: string): void => {
      if (progress === "graph") ended.abort(reason);
    };
    expect(await problemOf(investigate(LAZARUS, { signal: ended.signal, report }))).to.equal(reason);
    expect(host.published.size).to.equal(0);
  });

  it("ends with the reason of the end, also when nothing could be read until then", async () => {
    const ended = new AbortController();
    const investigate = await open(openHost({ base: DEAD }));
    const reason = new Problem("deadline-exceeded");
    const step = <T>(name: string, work: () => Promise<T>): Promise<T> => {
      if (name === "balances") ended.abort(reason);
      return work();
    };
    expect(await problemOf(investigate(newAddress(), { signal: ended.signal, step }))).to.equal(reason);
  });

  for (const address of [
    "",
    "vitalik.eth",
    "0x12",
    `0x${"g".repeat(40)}`,
    "1".repeat(44),
    "TNiq9AXBp9EjUqhDhrwrfvAA8U3GUQZH81",
  ])
    it(`refuses ${JSON.stringify(address)} before anything is paid`, async () => {
      const investigate = await open(openHost({}));
      const faults = await faultsOf(investigate(address));
      expect(faults).to.have.lengthOf(1);
      expect(faults[0]).to.match(/^body\.address: /);
    });
});
