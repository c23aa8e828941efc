import { expect } from "chai";
import wallet from "../../../../plugins/wallet/index.ts";
import type { Host } from "../../../../runtime/api/plugin.ts";
import { createGuardedFetch } from "../../../../runtime/drivers/http/guarded-fetch.ts";
import { type Ens, startEns } from "../../../support/chains/ens.ts";
import { type EnsGateway, startEnsGateway, toGatewayAnswer } from "../../../support/chains/ens-gateway.ts";
import { createHost, problemOf, type Serve, serve } from "../../host.ts";

const BOB = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const NOBODY = "0x0000000000000000000000000000000000000000";

describe("a .eth name that is kept behind a gateway", () => {
  let ens: Ens;
  let gateway: EnsGateway;
  let resolve: Serve;
  const reachable = createGuardedFetch({
    lookup: (_name, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]),
    isAllowed: (address) => address === "127.0.0.1",
  });
  const serveNames = (overrides: Partial<Host> = {}): Promise<Serve> =>
    serve("resolve_name", wallet, createHost(overrides, { urls: { ethereum: ens.url } }));

  before(async () => {
    ens = await startEns();
    gateway = await startEnsGateway();
    await ens.register("off.eth");
    await ens.setResolver("off.eth", ens.places.EnsOffchain);
  });
  after(() => Promise.all([gateway.stop(), ens.stop(), reachable.close()]));
  beforeEach(async () => {
    gateway.asked.length = 0;
    gateway.answer = () => [200, JSON.stringify({ data: toGatewayAnswer(BOB) })];
    resolve = await serveNames({ web: reachable });
  });

  it("is asked for there by POST, or by GET where the address has room for the question", async () => {
    for (const path of ["/ask", "/{sender}/{data}.json"]) {
      await ens.setGateways([gateway.url(path)]);
      const { addresses } = await resolve({ name: "deep.off.eth" });
      expect(addresses).to.deep.equal([{ chain: "ethereum", address: BOB, ttl_hint_seconds: 300 }]);
    }
    const [posted] = gateway.asked.filter(({ method }) => method === "POST");
    const [got] = gateway.asked.filter(({ method }) => method === "GET");
    const { sender, data } = JSON.parse(posted?.body ?? "") as Record<string, string>;
    expect(sender?.toLowerCase()).to.equal(ens.places.EnsOffchain.toLowerCase());
    expect(data).to.match(/^0x9061b923/);
    expect(got?.url).to.match(new RegExp(`^/${ens.places.EnsOffchain.toLowerCase()}/0x9061b923[0-9a-f]+\\.json$`));
  });

  it("is asked for at the next gateway when one is down", async () => {
    await ens.setGateways([gateway.url("/down"), gateway.url("/up")]);
    gateway.answer = ({ url }) => (url === "/down" ? [503, ""] : [200, JSON.stringify({ data: toGatewayAnswer(BOB) })]);
    expect((await resolve({ name: "off.eth" })).addresses).to.have.length(1);
  });

  it("leads to Ethereum even when its gateway does not say where it leads on Solana", async () => {
    await ens.setGateways([gateway.url("/{data}")]);
    const ofSolana = "f1cb7e06"; // addr(bytes32,uint256)
    gateway.answer = ({ url = "" }) =>
      url.includes(ofSolana) ? [500, ""] : [200, JSON.stringify({ data: toGatewayAnswer(BOB) })];
    const { addresses, notes } = await resolve({ name: "off.eth" });
    expect(addresses).to.deep.equal([{ chain: "ethereum", address: BOB, ttl_hint_seconds: 300 }]);
    expect(notes).to.equal("Whether it has a Solana address could not be found out.");
  });

  it("costs nothing when it has no address on Ethereum, and its gateway does not say whether it has one on Solana", async () => {
    await ens.setGateways([gateway.url("/{data}")]);
    const ofSolana = "f1cb7e06"; // addr(bytes32,uint256)
    gateway.answer = ({ url = "" }) =>
      url.includes(ofSolana) ? [500, ""] : [200, JSON.stringify({ data: toGatewayAnswer(NOBODY) })];
    expect((await problemOf(resolve({ name: "off.eth" }))).code).to.equal("upstream-failed");
  });

  it("costs nothing when the gateway refuses, fails, or answers nonsense", async () => {
    await ens.setGateways([gateway.url("/ask")]);
    const answers: [number, string][] = [
      [404, '{"message":"not found"}'],
      [500, ""],
      [200, "<html>"],
      [200, '{"data":"hello"}'],
      [200, `{"data":"0x${"00".repeat(200_000)}"}`],
      [200, '{"data":"0x"}'],
      [200, '{"data":"0x1234"}'],
    ];
    for (const answer of answers) {
      gateway.answer = () => answer;
      const problem = await problemOf(resolve({ name: "off.eth" }));
      expect(problem.code, String(answer[0])).to.equal("upstream-failed");
      expect(problem.message).to.match(/^The gateway that the name's owner has chosen /);
    }
  });

  it("cannot keep this server asking for ever", async () => {
    await ens.setGateways([gateway.url("/ask")], true);
    expect((await problemOf(resolve({ name: "off.eth" }))).message).to.match(/asked too often$/);
    expect(gateway.asked).to.have.length.at.most(8);
    await ens.setGateways([]);
  });

  it("cannot send this server to an address that is not public", async () => {
    await ens.setGateways([gateway.url("/ask"), "http://127.0.0.1:1/", "file:///etc/passwd"]);
    const guarded = await serveNames();
    expect((await problemOf(guarded({ name: "off.eth" }))).code).to.equal("upstream-failed");
    expect(gateway.asked).to.deep.equal([]);
  });
});
