import { expect } from "chai";
import nock from "nock";
import wallet from "../../../../plugins/wallet/index.ts";
import { silentLog } from "../../../../runtime/core/silent-log.ts";
import { createCache } from "../../../../runtime/drivers/store/cache.ts";
import { offline } from "../../../support/sources/replay.ts";
import { createMemoryStore } from "../../../support/store/memory-store.ts";
import { faultsOf, NOW, type Serve, serve } from "../../host.ts";
import {
  answer,
  answerOnceAtBase,
  BONFIDA,
  type Bundle,
  gather,
  openHost,
  SOURCES,
  UNUSED_EVM,
  UNUSED_SOLANA,
  VITALIK,
} from "./sources.ts";

describe("wallet intelligence", () => {
  offline();
  before(() => import("viem")); // Loading it takes longer than a source is waited for here.

  it("tells what Solana, its names and the lists know of a public key", async () => {
    answer();
    const { sanctions, ...bundle } = await gather(BONFIDA);
    expect(bundle).to.deep.equal({
      wallet: BONFIDA,
      chain_inferred: "solana",
      balances: { base_eth: null, eth_eth: null, base_usdc: null, sol: "12.405118922", solana_usdc: "250.75" },
      activity: { base_tx_count: null, has_history: true },
      identity: { ens_name: null, sns_name: "bonfida.sol" },
      errors: [],
      fetched_at: NOW / 1000,
      cache_age_seconds: 0,
    });
    expect(sanctions).to.include({ wallet: BONFIDA, chain_inferred: "solana", sanctions_match: false });
  });

  it("is the same for an address in whatever case, and says it as it was sent", async () => {
    answer();
    const host = openHost();
    const { wallet: _, sanctions: __, ...first } = (await gather(VITALIK, host)) as Bundle & { wallet: string };
    const {
      wallet: sent,
      sanctions,
      ...second
    } = (await gather(VITALIK.toLowerCase(), host)) as Bundle & { wallet: string };
    expect(second).to.deep.equal(first);
    expect([sent, sanctions.wallet]).to.deep.equal([VITALIK.toLowerCase(), VITALIK.toLowerCase()]);
  });

  it("screens the address on the chain that it was sent with, as /v1/screen does", async () => {
    nock("https://goplus.test")
      .persist()
      .get(`/address_security/${VITALIK.toLowerCase()}`)
      .query({ chain_id: "8453" })
      .reply(200, { code: 1, result: { contract_address: "1" } });
    answer();
    const sent = `eip155:8453:${VITALIK}`;
    const { sanctions } = await gather(sent);
    expect(sanctions).to.include({ wallet: sent, address_type: "contract" });
    expect(sanctions).to.deep.equal(await (await serve("screen", wallet, openHost()))({ wallet: sent }));
  });

  it("is zeros, without errors, for a wallet that nobody uses", async () => {
    answer(Object.fromEntries(SOURCES.map((source) => [source, "empty"])));
    const evm = await gather(UNUSED_EVM);
    expect(evm.balances).to.deep.equal({ base_eth: "0", eth_eth: "0", base_usdc: "0", sol: null, solana_usdc: null });
    expect(evm.activity).to.deep.equal({ base_tx_count: 0, has_history: false });
    const solana = await gather(UNUSED_SOLANA);
    expect(solana.balances).to.deep.equal({
      base_eth: null,
      eth_eth: null,
      base_usdc: null,
      sol: "0",
      solana_usdc: "0",
    });
    expect(solana.activity).to.deep.equal({ base_tx_count: null, has_history: false });
    for (const { identity, errors } of [evm, solana]) {
      expect(identity).to.deep.equal({ ens_name: null, sns_name: null });
      expect(errors).to.deep.equal([]);
    }
  });

  it("ends with its caller", async () => {
    answer({ base_eth: "slow" });
    const host = openHost();
    const handlers = await wallet.setup(host);
    const intel = handlers.intel as { run(input: object, call: object): Promise<unknown> };
    const controller = new AbortController();
    const running = intel.run({ wallet: VITALIK }, { signal: controller.signal });
    const reason = new Error("The caller is gone");
    controller.abort(reason);
    expect(await running.catch((error: unknown) => error)).to.equal(reason);
  });

  it("refuses what is neither an EVM address nor a Solana key", async () => {
    const ask = await serve("intel_wallet", wallet, openHost());
    const wrong = [
      "vitalik.eth",
      `${VITALIK}0`,
      "0x",
      "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
      "1".repeat(31),
      "O".repeat(44),
    ];
    for (const address of wrong)
      expect(await faultsOf(ask({ wallet: address })), address).to.deep.equal([
        "body.wallet: Value error, wallet must be an EVM address (0x and 40 hex digits) or a Solana public key in base58",
      ]);
    expect(await faultsOf(ask({}))).to.deep.equal(["body.wallet: Field required"]);
  });

  it("refuses an address that CAIP-10 puts on another chain", async () => {
    const ask = await serve("intel_wallet", wallet, openHost());
    const others = {
      [`eip155:137:${VITALIK}`]: "eip155:137",
      [`solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:${BONFIDA}`]: "Solana's devnet",
      [`did:pkh:solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z:${BONFIDA}`]: "Solana's testnet",
    };
    for (const [address, place] of Object.entries(others))
      expect(await faultsOf(ask({ wallet: address })), address).to.deep.equal([
        `body.wallet: Value error, wallet is on ${place}; this service reads Solana's mainnet, eip155:1 and eip155:8453`,
      ]);
  });

  describe("that was asked for before", () => {
    let now: number;
    let ask: Serve;
    let other: Serve;
    const clock = { now: () => now };

    beforeEach(async () => {
      now = NOW;
      const store = createMemoryStore(clock.now);
      const open = (): Promise<Serve> => {
        const cache = createCache({ store, namespace: "wallet", clock, log: silentLog });
        return serve("intel_wallet", wallet, openHost({ cache, clock }));
      };
      [ask, other] = [await open(), await open()];
    });

    it("is kept for a minute, for all processes, and says how old it is", async () => {
      const replays = answer();
      await ask({ wallet: VITALIK });
      const asked = replays.map((each) => each.asked.length);
      now += 59_999;
      const kept = (await other({ wallet: VITALIK })) as Bundle;
      expect(kept).to.include({ fetched_at: NOW / 1000, cache_age_seconds: 59 });
      expect(kept.balances.base_usdc).to.equal("1284.07");
      expect(replays.map((each) => each.asked.length)).to.deep.equal(asked);
      now += 1;
      const fresh = (await other({ wallet: VITALIK })) as Bundle;
      expect(fresh).to.include({ fetched_at: NOW / 1000 + 60, cache_age_seconds: 0 });
    });

    it("is asked again for what failed, and for nothing else", async () => {
      const mixed = ["success:base_eth", "success:base_tx_count", "error:base_usdc"];
      const failing = answerOnceAtBase(mixed);
      answer({}, ["ethereum"]);
      expect(((await ask({ wallet: VITALIK })) as Bundle).balances).to.include({ base_usdc: null });
      failing.assertDone();
      now += 10_000;
      const mended = answerOnceAtBase(["success:base_usdc"]);
      const bundle = (await other({ wallet: VITALIK })) as Bundle;
      mended.assertDone();
      expect(bundle.errors).to.deep.equal([]);
      expect(bundle.balances.base_usdc).to.equal("1284.07");
      expect(bundle).to.include({ fetched_at: NOW / 1000, cache_age_seconds: 10 });
    });

    it("asks each source once for callers that come at the same time", async () => {
      const replays = answer();
      const bundles = await Promise.all(Array.from({ length: 20 }, () => ask({ wallet: VITALIK })));
      for (const bundle of bundles) expect(bundle).to.deep.equal(bundles[0]);
      const [base] = replays;
      expect(base?.asked.map((exchange) => exchange.case).sort()).to.deep.equal([
        "success:base_eth",
        "success:base_tx_count",
        "success:base_usdc",
      ]);
    });
  });
});
