import { expect } from "chai";
import nock from "nock";
import { createIntel } from "../../../../plugins/wallet/intel/bundle.ts";
import { createEns } from "../../../../plugins/wallet/names/ens/ens.ts";
import { createSol } from "../../../../plugins/wallet/names/sol/sol.ts";
import { createScreening } from "../../../../plugins/wallet/screen/screening.ts";
import type { RpcAnswer, Upstream } from "../../../../runtime/api/plugin.ts";
import { offline } from "../../../support/sources/replay.ts";
import { createHost, problemOf } from "../../host.ts";
import {
  answer,
  BONFIDA,
  DEAD,
  gather,
  NODES,
  openHost,
  SOURCES,
  UNUSED_EVM,
  UNUSED_SOLANA,
  VITALIK,
} from "./sources.ts";

const EVM = SOURCES.filter((source) => NODES[source] !== "solana");
const SOLANA = SOURCES.filter((source) => NODES[source] === "solana");

describe("wallet intelligence whose sources fail", () => {
  offline();

  for (const [sources, address] of [
    [EVM, VITALIK],
    [SOLANA, BONFIDA],
  ] as const)
    for (const source of sources)
      for (const failure of ["error", "malformed"])
        it(`names ${source} when it gives "${failure}", and has all the rest`, async () => {
          answer({ [source]: failure });
          const bundle = await gather(address);
          expect(bundle.errors.map((error) => error.source)).to.deep.equal([source]);
          expect(bundle.errors[0]?.message).to.match(/^(Base|Ethereum|Solana) node /);
          const values: Record<string, unknown> = { ...bundle.balances, ...bundle.activity, ...bundle.identity };
          expect(sources.filter((each) => values[each] === null)).to.deep.equal(source in values ? [source] : []);
          expect(values.has_history).to.equal(true);
        });

  it("lacks at most what one node knows when that node has been asked too often", async () => {
    answer({ eth_eth: "rate-limit", eth_tx_count: "rate-limit", ens_name: "rate-limit" });
    const { errors, balances, activity } = await gather(VITALIK);
    expect(errors.map(({ source }) => source)).to.have.members(["eth_eth", "eth_tx_count", "ens_name"]);
    for (const { message } of errors)
      expect(message).to.match(/^Ethereum node has (been asked too often|asked for a pause)/);
    expect(balances).to.include({ base_eth: "0.071930482519004112", base_usdc: "1284.07" });
    expect(activity).to.deep.equal({ base_tx_count: 7, has_history: true });
  });

  it("does not know whether there is a history when the only chain without one is the only one that answers", async () => {
    answer({
      base_tx_count: "empty",
      eth_tx_count: "error",
      base_eth: "empty",
      base_usdc: "empty",
      eth_eth: "empty",
      ens_name: "empty",
    });
    expect((await gather(UNUSED_EVM)).activity).to.deep.equal({ base_tx_count: 0, has_history: null });
  });

  it("knows a Solana wallet that holds something as used, though its node has pruned all of its transactions", async () => {
    answer({ solana_history: "empty" });
    expect((await gather(BONFIDA)).activity).to.deep.equal({ base_tx_count: null, has_history: true });
    answer({ solana_history: "empty", sol: "empty", solana_usdc: "error" });
    expect((await gather(UNUSED_SOLANA)).activity).to.deep.equal({ base_tx_count: null, has_history: null });
  });

  it("names the screening when that fails", async () => {
    answer();
    const host = openHost();
    const fail = (): Promise<never> => Promise.reject(new TypeError("a bug"));
    const screening = { screen: fail, examine: fail, isListed: fail, isListCurrent: fail };
    const registries = { ENS: createEns(host), SNS: createSol(host) };
    const bundle = await createIntel(host, { registries, screening })(VITALIK, new AbortController().signal);
    expect(bundle.sanctions).to.equal(null);
    expect(bundle.errors).to.deep.equal([{ source: "sanctions", message: "Something went wrong on our side" }]);
    expect(bundle.balances.base_usdc).to.equal("1284.07");
  });

  it("does not cut the screening off with the other sources: what the sanctions list says would be lost", async () => {
    answer();
    const host = openHost();
    const givenUp = Promise.withResolvers<void>(); // When the other sources are.
    const silent = (_address: string, signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          reject(signal.reason as Error);
          givenUp.resolve();
        }),
      );
    const real = createScreening(host);
    const examine: typeof real.examine = (wallet, { signal }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
        void givenUp.promise.then(() => real.examine(wallet, { signal })).then(resolve, reject);
      });
    const registries = { ENS: { ...createEns(host), primaryName: silent }, SNS: createSol(host) };
    const options = { registries, screening: { ...real, examine }, patienceMs: 5000 };
    const bundle = await createIntel(host, options)(VITALIK, new AbortController().signal);
    expect(bundle.errors).to.deep.equal([{ source: "ens_name", message: "No answer came in time" }]);
    expect(bundle.sanctions).to.include({ sanctions_match: false, partial: false });
  });

  it("names the screening when GoPlus fails, has what the list says all the same, and asks again the next time", async () => {
    const host = openHost();
    answer({ goplus: "error:outage" });
    const { errors, sanctions } = await gather(VITALIK, host);
    expect(errors).to.deep.equal([
      { source: "sanctions", message: "GoPlus did not answer: the screening is provisional" },
    ]);
    expect(sanctions).to.include({ sanctions_match: false, partial: true });
    nock.cleanAll();
    answer();
    const again = await gather(VITALIK, host);
    expect([again.errors, again.sanctions.partial]).to.deep.equal([[], false]);
  });

  it("costs nothing when no source answers", async () => {
    for (const address of [VITALIK, BONFIDA]) {
      const urls = { base: DEAD, ethereum: DEAD, solana: DEAD, goplus: DEAD, ofac: DEAD };
      const { code, message } = await problemOf(gather(address, createHost({}, { urls, retries: 0 })));
      expect(code).to.equal("upstream-failed");
      expect(message).to.match(/^No source could be read: (Base|Solana) node could not be reached/);
    }
  });

  it("takes an answer of another shape for a failure", async () => {
    for (const result of [
      null,
      "",
      "0x",
      "-1",
      "0xzz",
      7.5,
      {},
      { value: null },
      { value: [{}] },
      { value: "1" },
      { value: -5 },
      true,
    ]) {
      const node = { title: "A node", rpc: async (): Promise<RpcAnswer> => ({ result }) } as unknown as Upstream;
      for (const address of [VITALIK, BONFIDA]) {
        const problem = await problemOf(gather(address, openHost({ upstream: () => node })));
        expect(problem.code, JSON.stringify(result)).to.equal("upstream-failed");
      }
    }
  });

  it("takes a number of transactions and balances that cannot be ones for failures", async () => {
    const rpc = async (): Promise<RpcAnswer> => ({ result: `0x${"f".repeat(64)}` });
    const node = { title: "A node", rpc } as unknown as Upstream;
    const { code, message } = await problemOf(gather(VITALIK, openHost({ upstream: () => node })));
    expect(code).to.equal("upstream-failed");
    for (const method of ["eth_getTransactionCount", "eth_getBalance", "eth_call"])
      expect(message).to.contain(`A node answered ${method} with something else`);
  });

  it("does not wait for a slow source", async () => {
    answer({ base_eth: "slow" });
    const host = openHost();
    const registries = { ENS: createEns(host), SNS: createSol(host) };
    const options = { registries, screening: createScreening(host), patienceMs: 10_000 };
    const bundle = await createIntel(host, options)(VITALIK, new AbortController().signal);
    expect(bundle.errors).to.deep.equal([{ source: "base_eth", message: "No answer came in time" }]);
    expect(bundle.balances).to.include({ base_eth: null, base_usdc: "1284.07" });
  });
});
