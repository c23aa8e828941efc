import { Connection, Keypair, type PublicKey, SystemProgram, Transaction } from "@solana/web3.js";
import { expect } from "chai";
import { sharedSandbox } from "../../../support/chains/chains.ts";
import { offline, replayAlways } from "../../../support/sources/replay.ts";
import { createWorldClock } from "../../../support/world/clock.ts";
import { problemOf } from "../../host.ts";
import { createLateClock, type Data, open, openHost } from "./stage.ts";

const RECORDINGS = "plugins/wallet/recordings/solana";
const SOLANA_URL = "https://solana.test";
const SUBJECT = "HKKp49qGWXd639QsuH7JiLijfVW5UtCVY4s1n2HANwEA";
/** Of the recordings. */
const [CUSTOMER, SHOP, FUNDER] = [
  "74coQAh6vzNYz2WhVSPudzShdo8KMdEuabKLGR36cWdV",
  "AyYJTdePwGDJFjrqgKPPhiw5vwF1pbVieDD1cupjex14",
  "46bCxBVahXZu55YjYfPRkNB3iSEwELpwbUBM4abkDoYk",
];

describe("an investigation of a Solana wallet", () => {
  offline();

  async function investigate(cases: readonly string[]): Promise<Data> {
    replayAlways(SOLANA_URL, `${RECORDINGS}/wallet.json`, ["success"]);
    const { clock, noteCase } = createLateClock();
    replayAlways(SOLANA_URL, `${RECORDINGS}/history.json`, [...cases, "empty"], noteCase);
    return (await (await open(openHost({ solana: SOLANA_URL }, { clock })))(SUBJECT)).data;
  }

  it("reads what its transactions have changed, whichever of its accounts they name", async () => {
    const { movements, identity, graph, coverage } = await investigate(["success"]);
    expect(movements?.volumes).to.deep.equal([
      { asset: "SOL", received: "12.405128922", sent: "0", receivedCount: 1, sentCount: 0 },
      { asset: "USDC", received: "400.75", sent: "150", receivedCount: 1, sentCount: 1 },
    ]);
    expect(coverage.map(({ covers }) => covers)).to.include("Solana node: 4 of 4 transactions on Solana were read.");
    expect(graph.nodes.slice(1).map(({ address }) => address)).to.deep.equal([FUNDER, CUSTOMER, SHOP]);
    expect(identity.funding?.from).to.equal(FUNDER);
  });

  it("knows when it was first seen, if all of its signatures could be listed", async () => {
    const { activity } = await investigate(["success"]);
    expect(activity?.firstSeenAt).to.equal(1_690_000_000);
  });

  for (const [found, why] of [
    ["error", "Solana node refused getSignaturesForAddress"],
    ["rate-limit", "Solana node has been asked too often"],
    ["slow", "Solana node did not answer in time"],
    ["malformed", "Solana node answered with what is no JSON-RPC (status 200)"],
    ["malformed:other shapes", "Solana node answered getSignaturesForAddress with something else"],
  ] as const)
    it(`fails, to be paid back, when the node gives ${found}`, async () => {
      const others = ["success:account", "success:transaction", "success:archive"];
      const { code, message } = await problemOf(investigate([found, ...others]));
      expect(code).to.equal("upstream-failed");
      expect(message).to.equal(`No transfers could be read: ${why}`);
    });

  it("follows real transfers on a chain, two hops deep", async () => {
    const { solana } = await sharedSandbox();
    const connection = new Connection(solana.url, "confirmed");
    const [payer, shop, supplier] = [Keypair.generate(), Keypair.generate(), Keypair.generate().publicKey];
    solana.airdrop(payer.publicKey.toBase58(), 5_000_000_000n);
    const send = async (from: Keypair, to: PublicKey, lamports: number): Promise<void> => {
      const transfer = SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports });
      await connection.sendTransaction(new Transaction().add(transfer), [from]);
    };
    await send(payer, shop.publicKey, 2_000_000_000);
    await send(shop, supplier, 500_000_000);
    const subject = payer.publicKey.toBase58();
    const { data } = await (await open(openHost({ solana: solana.url }, { clock: createWorldClock(Date.now()) })))(
      subject,
    );
    const hops = data.graph.nodes.map(({ address, hop }) => [address, hop]);
    expect(hops).to.deep.include.members([
      [subject, 0],
      [shop.publicKey.toBase58(), 1],
      [supplier.toBase58(), 2],
    ]);
    const amounts = data.graph.flows.map(({ to, amount }) => [to, amount]);
    expect(amounts).to.deep.include.members([
      [shop.publicKey.toBase58(), "2"],
      [supplier.toBase58(), "0.5"],
    ]);
  });
});
