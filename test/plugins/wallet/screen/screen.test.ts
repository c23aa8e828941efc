import { expect } from "chai";
import nock from "nock";
import wallet from "../../../../plugins/wallet/index.ts";
import { offline, type Replay, replay, replayAlways } from "../../../support/sources/replay.ts";
import { createHost, faultsOf, NOW, type Serve, serve, type TestHost } from "../../host.ts";

const OFAC = "plugins/wallet/recordings/ofac/sdn.json";
const GOPLUS = "plugins/wallet/recordings/goplus/address-security.json";
const OFAC_URL = "https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN.XML";
const GOPLUS_URL = "https://api.gopluslabs.io/api/v1";

const CLEAN = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const RONIN = "0x098B716B8Aaf21512996dC57EB0615e2383E2f96";
const PHISHING = "0x6D8C070338ec3d297f1d0eceea296bd7e13a32b9";
const CONTRACT = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const UNHEARD_OF = "0x00000000000000000000000000000000DeaDBeef";
const SOLANA = "vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg";
const TRON = "TNiq9AXBp9EjUqhDhrwrfvAA8U3GUQZH81";

type Answer = Record<string, unknown> & { readonly signals: readonly Record<string, string>[] };

describe("a screening", () => {
  offline();
  let host: TestHost;
  let ask: Serve;
  let goplus: Replay;

  /** Has read OFAC's list, and asks a GoPlus that gives these cases, each as often as it is asked. */
  async function start(cases: readonly string[], reach: Parameters<typeof createHost>[1] = {}): Promise<void> {
    host = createHost({}, { retries: 0, ...reach });
    ask = await serve("screen", wallet, host);
    const ofac = replay(OFAC_URL, OFAC, ["success"]);
    await host.tasks.get("ofac")!(new AbortController().signal);
    ofac.assertDone();
    goplus = replayAlways(GOPLUS_URL, GOPLUS, cases);
  }
  const screen = async (address: string): Promise<Answer> => (await ask({ wallet: address })) as Answer;
  const codesOf = ({ signals }: Answer): unknown => signals.map(({ code }) => code);

  it("blocks a sanctioned address, in whatever case, and says whose it is", async () => {
    await start(["success"]);
    for (const address of [RONIN, RONIN.toLowerCase(), RONIN.toUpperCase(), RONIN.slice(2), `eip155:8453:${RONIN}`]) {
      const answer = await screen(address);
      expect(answer).to.deep.include({
        wallet: address,
        sanctions_match: true,
        sanctioned_lists: ["OFAC SDN"],
        risk_level: "critical",
        risk_score: 100,
        recommendation: "block",
        partial: false,
      });
      expect(answer.signals[0]).to.deep.equal({
        code: "ofac_sdn",
        severity: "critical",
        source: "treasury.gov",
        detail: "OFAC lists it (ETH) as LAZARUS GROUP's: SDN entry 27307, program DPRK3.",
      });
      expect(answer.labels).to.include.members(["LAZARUS GROUP", "theft", "money laundering"]);
    }
  });

  it("blocks a sanctioned address of a chain that is none of ours", async () => {
    await start(["success"]);
    expect(await screen(TRON)).to.deep.include({
      chain_inferred: "unknown",
      sanctions_match: true,
      recommendation: "block",
      labels: ["BANK MARKAZI JOMHOURI ISLAMI IRAN"],
    });
  });

  it("blocks an address that GoPlus links to phishing, and does not call it sanctioned", async () => {
    await start(["success"]);
    const answer = await screen(PHISHING);
    expect(codesOf(answer)).to.deep.equal(["phishing_activities", "blacklist_doubt"]);
    expect(answer).to.deep.include({
      sanctions_match: false,
      risk_level: "high",
      risk_score: 72,
      recommendation: "block",
    });
    expect(answer.signals.every(({ source }) => source === "goplus")).to.equal(true);
  });

  it("allows no address whose key nobody has", async () => {
    await start(["empty"]);
    const evm = ["0", "dEaD"].map((digits) => `0x${digits.padStart(40, "0")}`);
    for (const address of [...evm, "1".repeat(32), "1nc1nerator11111111111111111111111111111111"])
      expect(JSON.stringify(await screen(address))).to.match(/"review","notes":".* what is sent there is lost\."/);
  });

  it("allows no address in mixed case whose checksum is wrong: it may hold a typing error", async () => {
    await start(["success"]);
    const typed = CLEAN.replace("dA6", "da6");
    const answer = await screen(typed);
    expect(answer).to.include({ risk_level: "low", risk_score: 0, recommendation: "review" });
    expect(answer.notes).to.match(/typing error/);
    for (const address of [CLEAN, CLEAN.toLowerCase(), CLEAN.toUpperCase()])
      expect(await screen(address)).to.include({ recommendation: "allow" });
    expect(await screen(RONIN.replace("E", "e"))).to.include({ recommendation: "block" });
  });

  it("tells a contract from an account", async () => {
    await start(["success"]);
    expect(await screen(CONTRACT)).to.include({ address_type: "contract", recommendation: "allow" });
  });

  it("does not know an address by a type that GoPlus does not have", async () => {
    await start([]);
    const result = { contract_address: "constructor" };
    nock(GOPLUS_URL).get(/./).query(true).reply(200, { code: 1, result });
    expect(await screen(RONIN)).to.include({ address_type: "unknown", recommendation: "block" });
  });

  it("is partial for a Solana address, which GoPlus is not asked about, and says where none can sign", async () => {
    await start(["success"]);
    expect(await screen(SOLANA)).to.include({ chain_inferred: "solana", recommendation: "allow", partial: true });
    expect(goplus.asked).to.have.length(0);
    const authority = await screen("5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1"); // A program's, off the curve.
    expect(authority).to.include({ risk_level: "low", recommendation: "allow", partial: true });
    expect(authority.notes).to.match(/ No secret key can belong to this one: .* screen the wallet that owns it\.$/);
  });

  it("answers an address of unknown shape, for review", async () => {
    await start(["success"]);
    for (const address of ["vitalik.eth", CLEAN.slice(3), "rnXyVQzgxZe7TR1EPzTkGj2jxH4LMJYh66"])
      expect(await screen(address)).to.deep.include({
        wallet: address,
        chain_inferred: "unknown",
        sanctions_match: false,
        risk_level: "medium",
        recommendation: "review",
        address_type: "unknown",
        signals: [],
        partial: true,
      });
    expect(goplus.asked).to.have.length(0);
  });

  it("asks GoPlus about the chain that a CAIP-10 address names, and about Ethereum where GoPlus does not know the chain", async () => {
    await start(["success", "error:unsupported chain"]);
    expect(await screen(`eip155:8453:${CONTRACT}`)).to.include({ address_type: "contract", partial: false });
    expect(await screen(`eip155:31337:${CLEAN}`)).to.include({ address_type: "unknown", partial: false });
    expect(goplus.asked.map((exchange) => exchange.case)).to.deep.equal([
      "success:contract on Base",
      "error:unsupported chain",
      "success",
    ]);
  });

  it("refuses no wallet, an empty one and one of more than 128 characters", async () => {
    await start(["success"]);
    expect(await faultsOf(ask({}))).to.deep.equal(["body.wallet: Field required"]);
    const blank = ["", " ", "\n", "\u200b", "\u2060 \u00ad"];
    for (const wallet of blank) expect(await faultsOf(ask({ wallet })), JSON.stringify(wallet)).to.have.length(1);
    expect(await faultsOf(ask({ wallet: "1".repeat(129) }))).to.have.length(1);
    expect((await screen("1".repeat(128))).chain_inferred).to.equal("unknown");
  });

  for (const wrong of [
    "error",
    "error:outage",
    "rate-limit",
    "rate-limit:by status",
    "malformed",
    "malformed:no object",
    "malformed:other values",
  ])
    it(`is partial, and no error, when GoPlus gives "${wrong}"`, async () => {
      await start([wrong]);
      expect(await screen(CLEAN)).to.deep.include({
        recommendation: "allow",
        risk_score: 0,
        signals: [],
        partial: true,
      });
      await start([wrong]);
      expect(await screen(RONIN), "sanctioned all the same").to.deep.include({
        recommendation: "block",
        sanctioned_lists: ["OFAC SDN"],
        partial: true,
      });
    });

  it("is partial when GoPlus has nothing to say of an address", async () => {
    await start(["empty"]);
    expect(await screen(UNHEARD_OF)).to.deep.include({ recommendation: "allow", partial: true, signals: [] });
  });

  it("counts the flags of an answer that is not complete yet, and asks again the next time", async () => {
    await start(["error:partial data"]);
    expect(await screen(PHISHING)).to.include({ recommendation: "block", partial: true });
    await screen(PHISHING);
    expect(goplus.asked).to.have.length(2);
  });

  it("does not wait longer for a slow GoPlus than its patience lasts", async () => {
    await start(["slow"], { timeoutMs: 60_000 });
    expect(await screen(CLEAN)).to.include({ sanctions_match: false, recommendation: "allow", partial: true });
  });

  it("ends with its caller", async () => {
    await start(["slow"], { timeoutMs: 60_000 });
    const caller = new AbortController();
    const asked = ask({ wallet: CLEAN }, { signal: caller.signal }).catch((error: unknown) => error);
    caller.abort(new Error("gone"));
    expect(await asked).to.have.property("message", "gone");
  });

  it("asks GoPlus once in ten minutes about an address, for all processes", async () => {
    await start(["success"]);
    await screen(CLEAN);
    const other = await serve("screen", wallet, createHost({ cache: host.cache }));
    expect(await other({ wallet: CLEAN.toLowerCase() })).to.include({ recommendation: "allow", partial: false });
    expect(goplus.asked).to.have.length(1);
  });

  it("allows nothing as long as only the built-in list is there, and blocks what is on it", async () => {
    host = createHost();
    ask = await serve("screen", wallet, host);
    replayAlways(GOPLUS_URL, GOPLUS, ["success"]);
    const answer = await screen(CLEAN);
    expect(answer).to.include({
      sanctions_match: false,
      recommendation: "review",
      risk_level: "medium",
      partial: false,
    });
    expect(answer.corpus_version).to.match(/^builtin-/);
    expect(await screen(RONIN)).to.include({ sanctions_match: true, recommendation: "block" });
  });

  for (const wrong of ["empty", "error", "error:outage", "rate-limit", "malformed", "malformed:another document"])
    it(`goes on with the list that it has when OFAC gives "${wrong}"`, async () => {
      let now = NOW;
      host = createHost({ clock: { now: () => now } }, { retries: 0 });
      ask = await serve("screen", wallet, host);
      const refresh = (): Promise<unknown> =>
        host.tasks.get("ofac")!(new AbortController().signal).catch((error: unknown) => error);
      replay(OFAC_URL, OFAC, ["success"]);
      await refresh();
      const { corpus_version } = await screen(SOLANA);
      now += 86_400_000;
      replay(OFAC_URL, OFAC, [wrong]);
      expect(await refresh()).to.have.property("code", "upstream-failed");
      expect(await screen(SOLANA)).to.include({ corpus_version, recommendation: "allow" });
      expect(await screen(TRON)).to.include({ recommendation: "block" });
    });
});
