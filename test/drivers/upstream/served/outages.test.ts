import { expect } from "chai";
import { site } from "../../../support/chains/chains.ts";
import { FAILURES } from "./support/recorded-source.ts";
import { type Bought, openScene, priceOf, type Scene } from "./support/scene.ts";

const VITALIK = { wallet: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045" };
const BONFIDA = { wallet: "HKKp49qGWXd639QsuH7JiLijfVW5UtCVY4s1n2HANwEA" };
const TRANSFER = { chain: "ethereum", calldata_hex: `0xa9059cbb${"0".repeat(128)}` };
const UNLISTED = { chain: "ethereum", calldata_hex: "0x12345678" };
const HASHES = {
  base: "0x07471adfe8f4ec553c1199f495be97fc8be8e0626ae307281c22534460184ed1",
  ethereum: "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
  solana: "4G24SgaZ3gU92HAB8xwSVg6WXS7NcGtUpHMnQ5RTwBw9bG5x8y6co5TzqqPXbExovY2NAuPjE9393TCHFZVhS8K9",
};

/** A call that a source's failure must not let pass as if nothing had happened. */
interface Victim {
  readonly service: string;
  readonly input: object;
  /** What the buyer gets for his money all the same; without it he gets nothing, and keeps it. */
  readonly instead?: (body: Bought["body"]) => void;
  /** It is paid before it works: its buyer has a credit. */
  readonly isPaidFirst?: boolean;
}

const PRICE: Victim = { service: "price_token", input: { symbol: "ETH" } };
const ROAST: Victim = {
  service: "roast",
  input: {
    target:
      "A startup that puts umbrellas on the blockchain, so that you always know who owns the one you forgot on the train.",
  },
};
const ORACLE: Victim = { service: "oracle", input: { question: "Is 2027 a prime number?" }, isPaidFirst: true };
const decodeTx = (chain: keyof typeof HASHES): Victim => ({
  service: "decode_tx",
  input: { chain, tx_hash: HASHES[chain] },
});

/** Intelligence that lacks what one node knows, and says so. */
const lacks = (...sources: readonly string[]): Pick<Victim, "instead"> => ({
  instead: ({ errors }) => {
    expect((errors as { source: string }[]).map(({ source }) => source)).to.have.members(sources);
    for (const { message } of errors as { message: string }[]) expect(message).to.match(/ node |in time/);
  },
});

/** By the source that fails: what it is called, and who reads it. */
const READERS: Readonly<Record<string, { readonly title: string; readonly victims: readonly Victim[] }>> = {
  coingecko: { title: "CoinGecko", victims: [PRICE] },
  goplus: {
    title: "GoPlus",
    victims: [
      {
        service: "screen",
        input: VITALIK,
        instead: (body) => {
          expect(body).to.include({ partial: true, address_type: "unknown" });
          expect(body.notes).to.include("GoPlus, which knows bad reputations, did not answer");
        },
      },
      {
        service: "intel_wallet",
        input: VITALIK,
        instead: ({ sanctions, errors }) => {
          expect(sanctions.partial).to.equal(true);
          expect(errors).to.deep.equal([
            { source: "sanctions", message: "GoPlus did not answer: the screening is provisional" },
          ]);
        },
      },
    ],
  },
  ofac: {
    title: "OFAC SDN list",
    victims: [
      {
        service: "screen",
        input: VITALIK,
        instead: (body) => {
          expect(body).to.include({ recommendation: "review", risk_level: "medium" });
          expect(body.corpus_version).to.match(/^builtin-/);
          expect(body.notes).to.include("OFAC's present list could not be read");
        },
      },
    ],
  },
  openchain: {
    title: "Openchain",
    victims: [
      {
        service: "decode_calldata",
        input: TRANSFER,
        instead: (body) => expect(body).to.include({ decoded: true, function_name: "transfer", source: "4byte" }),
      },
      { service: "decode_calldata", input: UNLISTED },
    ],
  },
  fourbyte: {
    title: "4byte.directory",
    victims: [
      {
        service: "decode_calldata",
        input: TRANSFER,
        instead: (body) => expect(body).to.include({ decoded: true, source: "openchain" }),
      },
      { service: "decode_calldata", input: UNLISTED },
    ],
  },
  base: {
    title: "Base node",
    victims: [
      decodeTx("base"),
      { service: "intel_wallet", input: VITALIK, ...lacks("base_eth", "base_usdc", "base_tx_count") },
    ],
  },
  ethereum: {
    title: "Ethereum node",
    victims: [
      decodeTx("ethereum"),
      { service: "resolve_name", input: { name: "vitalik.eth" } },
      { service: "intel_wallet", input: VITALIK, ...lacks("eth_eth", "eth_tx_count", "ens_name") },
    ],
  },
  solana: {
    title: "Solana node",
    victims: [
      decodeTx("solana"),
      { service: "resolve_name", input: { name: "bonfida.sol" } },
      { service: "intel_wallet", input: BONFIDA },
    ],
  },
  llm: {
    title: "The language model",
    victims: [ORACLE, ROAST],
  },
};

describe("a source that fails", () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  });
  afterEach(() => scene.clear());
  after(() => scene?.close());

  for (const [id, { title, victims }] of Object.entries(READERS))
    for (const failure of FAILURES)
      it(`costs nobody anything for what is not had without it: ${title} ${failure}`, async () => {
        await scene.source(id).fail(failure);
        const other = id === "coingecko" ? ROAST : PRICE;
        const services = [other, ...victims].map(({ service }) => service);
        const shop = await scene.open({ impatientWith: id, services });
        const before = await balance();
        // One after the other: what a payer has in flight is compared with its balance, which the Base node knows.
        for (const victim of victims) check(await shop.buy(victim.service, victim.input), title, victim);
        expect((await shop.buy(other.service, other.input)).status).to.equal(200);
        const paid = victims.filter(({ instead, isPaidFirst }) => instead || isPaidFirst);
        const sold = [other.service, ...paid.map(({ service }) => service)];
        expect(before - (await balance())).to.equal(sold.reduce((sum, service) => sum + priceOf(service), 0n));
      });

  it("is known to fail afterwards: the oracle is not sold while the language model wants a pause", async () => {
    await scene.source("llm").fail("is asked too often");
    const shop = await scene.open({ impatientWith: "llm", services: [ROAST.service, ORACLE.service] });
    const before = await balance();
    expect((await shop.buy(ROAST.service, ROAST.input)).status).to.equal(502);
    const { status, body } = await shop.buy(ORACLE.service, ORACLE.input);
    expect([status, body.detail]).to.deep.equal([503, "The language model is busy; nothing was charged"]);
    expect(await balance()).to.equal(before);
    expect((await shop.ready()).services).to.deep.include({
      id: "oracle",
      state: "down",
      reason: "The language model is busy",
    });
  });

  const balance = (): Promise<bigint> => scene.sandbox.usdc.balanceOf(scene.sandbox.description.buyer.evm.address);
});

describe("directories of signatures that both hang", () => {
  it("have failed, as _site.yaml has it, before the deadline of a call that asks one after the other", () => {
    const waits = ["openchain", "fourbyte"].map((id) => {
      const { timeout_seconds = 5, retries = 2 } = site.upstreams?.find((one) => one.id === id) ?? {};
      return timeout_seconds * (retries + 1) + retries; // With at most a second before each repetition.
    });
    expect(waits.reduce((sum, wait) => sum + wait, 0)).to.be.below(site.limits.deadline_seconds);
  });
});

function check({ status, headers, body }: Bought, title: string, { instead, isPaidFirst = false }: Victim): void {
  expect(status, JSON.stringify(body)).to.equal(instead ? 200 : 502);
  expect(headers.has("payment-response")).to.equal(instead !== undefined || isPaidFirst);
  if (instead) {
    instead(body);
    return;
  }
  expect(body.code).to.equal(isPaidFirst ? "paid-not-delivered" : "upstream-failed");
  expect(body.detail).to.include(title);
  expect(Number(headers.get("retry-after"))).to.be.greaterThan(0);
}
