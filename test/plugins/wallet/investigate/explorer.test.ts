import { expect } from "chai";
import { offline, replayAlways } from "../../../support/sources/replay.ts";
import type { Fault } from "../../../support/world/manners.ts";
import { BLOCKSCOUT_URL, createLateClock, type Data, open, openHost } from "./stage.ts";
import { investigateIn } from "./world.ts";

const FILE = "plugins/wallet/recordings/blockscout/addresses.json";
const WALLET = "plugins/wallet/recordings/base/wallet.json";
const BASE_URL = "https://base.test";
const SUBJECT = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const OTHER_LISTS = ["success:transactions", "success:internal transactions"];
const UNKNOWN = "0x000000000000000000000000000000000000dEaD";
/** Of the recordings. */
const [FUNDER, SHOP, FRIEND, POOL, SAVER] = [
  "0xf5f85759393fafb507da41b7555db7fc125b78c8",
  "0x1d4a654d02221141e523a17be331f0d65561ae58",
  "0xf47cc2bcec7fdc237b9b6ed84ab530028ca43c72",
  "0xdae8a1b478f9a677df3011a531fd2ec061790903",
  "0x8b86ea7ecb5316c53603cbc360d4db27ad672679",
];

const OWN = SUBJECT.toLowerCase();
const HASH = `0x${"1".repeat(64)}`;
/** An item of an explorer's list: somebody has paid the subject. */
const ITEM = {
  transaction_hash: HASH,
  log_index: 1,
  timestamp: "2026-10-01T00:00:00.000000Z",
  from: { hash: FRIEND },
  to: { hash: OWN },
};
const PAID = { ...ITEM, total: { value: "5000000" } };
const PAYMENT = [{ from: FRIEND, to: OWN, asset: "ETH", amount: "0.5", daysAgo: 400 }] as const;

describe("an investigation with an explorer of Base", () => {
  offline();

  /** The node gives balances and no logs: all transfers come from the explorer. */
  async function investigate(address: string, cases: readonly string[]): Promise<Data> {
    replayAlways(BASE_URL, WALLET, ["success", "empty"]);
    const { clock, noteCase } = createLateClock();
    const asked = replayAlways(BLOCKSCOUT_URL, FILE, cases, noteCase);
    const host = openHost({ base: BASE_URL, blockscout: BLOCKSCOUT_URL }, { clock });
    const { data } = await (await open(host))(address);
    expect(asked.asked).not.to.deep.equal([]);
    return data;
  }

  it("knows all transfers of USDC and ETH, page by page, and none that failed", async () => {
    const { movements, coverage } = await investigate(SUBJECT, ["success"]);
    expect(movements?.volumes).to.deep.equal([
      { asset: "ETH", received: "5", sent: "4.928", receivedCount: 1, sentCount: 3 },
      { asset: "USDC", received: "3379.07", sent: "2095", receivedCount: 2, sentCount: 3 },
    ]);
    expect(movements?.isWhole).to.equal(true);
    expect(coverage.map(({ covers }) => covers)).to.include(
      "Blockscout: all 5 USDC transfers, all 8 transactions, all 0 transfers of ETH by contracts on Base.",
    );
  });

  it("puts those first with whom the most was moved, and calls them what the explorer calls them", async () => {
    const { graph } = await investigate(SUBJECT, ["success"]);
    const first = graph.nodes.filter(({ hop }) => hop === 1);
    expect(first.map(({ address }) => address)).to.deep.equal([FUNDER, POOL, SHOP, FRIEND, SAVER]);
    expect(first.slice(0, 3).map(({ label }) => label)).to.deep.equal(["Exchange hot wallet", "UniswapV3Pool", null]);
    expect(graph.nodes.filter(({ hop }) => hop === 2)).to.have.lengthOf(3);
  });

  it("knows its age, who funded it, and who was funded by the same address", async () => {
    const { activity, identity, reasons } = await investigate(SUBJECT, ["success"]);
    expect(activity?.firstSeenAt).to.equal(Date.UTC(2023, 7, 9, 16, 30, 11) / 1000);
    expect(identity.funding?.from).to.equal(FUNDER);
    expect(identity.links).to.have.lengthOf(1);
    expect(identity.links[0]).to.include({ address: FRIEND, reason: "shared-funding" });
    expect(reasons).to.deep.equal([]);
  });

  for (const found of ["empty", "error:unknown"])
    it(`takes an address that it has never seen (${found}) for one that nothing happened to`, async () => {
      const { movements, graph, reasons } = await investigate(UNKNOWN, [found]);
      expect(movements).to.deep.include({ volumes: [], senders: 0, recipients: 0, isWhole: true });
      expect(graph.nodes).to.have.lengthOf(1);
      expect(reasons.map(({ code }) => code)).not.to.include("young");
    });

  for (const [found, why] of [
    ["error", "Blockscout answered token-transfers with status 422"],
    ["error:outage", "Blockscout answered with status 500"],
    ["rate-limit", "Blockscout has been asked too often"],
    ["slow", "Blockscout did not answer in time"],
    ["malformed", "Blockscout answered with what is no JSON"],
    ["malformed:no list", "Blockscout answered token-transfers with status 200"],
  ] as const)
    it(`keeps the other lists when one gives ${found}, and says what is missing`, async () => {
      const { missing, movements, verdict } = await investigate(SUBJECT, [found, ...OTHER_LISTS]);
      const said = missing.find(({ source }) => source === "Blockscout")?.message;
      expect(said).to.match(/^Of its USDC transfers only the newest 0 could be read: /);
      expect(said, said).to.include(why);
      expect(movements.volumes.map(({ asset }) => asset)).to.deep.equal(["ETH"]);
      expect(verdict).to.equal("inconclusive");
    });

  it("leaves out items that are of another form, reads the rest, and is not sure", async () => {
    const { movements, missing } = await investigate(SUBJECT, ["malformed:other shapes", ...OTHER_LISTS]);
    expect(movements.volumes.map(({ asset }) => asset)).to.deep.equal(["ETH"]);
    expect(missing.filter(({ source }) => source === "Blockscout")).to.deep.equal([
      { source: "Blockscout", message: "5 of its USDC transfers could not be understood", atStake: 99 },
    ]);
  });

  for (const [list, name, items] of [
    ["token-transfers", "USDC transfers", [{ ...ITEM, total: { value: 5_000_000 } }]],
    ["token-transfers", "USDC transfers", [{ ...PAID, log_index: undefined }]],
    ["internal-transactions", "transfers of ETH by contracts", [{ ...ITEM, success: true, value: "5" }]],
    ["token-transfers", "USDC transfers", [{ ...PAID, timestamp: "1970-01-01T00:00:00.000000Z" }]],
    ["token-transfers", "USDC transfers", [{ ...PAID, timestamp: "2099-01-01T00:00:00.000000Z" }]],
    ["transactions", "transactions", [{ ...ITEM, status: "success" }]],
    ["transactions", "transactions", [{ ...ITEM, status: "ok", hash: HASH, value: "0x5" }]],
    ["internal-transactions", "transfers of ETH by contracts", [{ ...ITEM, success: true, value: 5 }]],
  ] as const)
    it(`is not sure where an explorer lists ${name} in a form that it does not know`, async () => {
      const body = JSON.stringify({ items, next_page_params: null });
      const fault: Fault = ({ name }) => (name.endsWith(`${OWN}/${list}`) ? body : undefined);
      const { data } = await investigateIn({ payments: PAYMENT, manners: { blockscout: { fault } } }, OWN);
      expect(data).to.include({ verdict: "inconclusive", provisional: true });
      const message = `1 of its ${name} could not be understood`;
      expect(data.missing).to.deep.include({ source: "Blockscout", message, atStake: 99 });
    });

  it("understands transactions that move nothing to anybody: failed, pending, and of new contracts", async () => {
    const sent = { ...ITEM, from: { hash: OWN }, to: null, hash: HASH, value: "5" };
    const items = ["ok", "error", null].map((status) => ({ ...sent, status }));
    const body = JSON.stringify({ items, next_page_params: null });
    const fault: Fault = ({ name }) => (name.endsWith(`${OWN}/transactions`) ? body : undefined);
    const { data } = await investigateIn({ payments: [], manners: { blockscout: { fault } } }, OWN);
    expect(data.missing).to.deep.equal([]);
  });

  describe("whose lists go wrong behind their first page", () => {
    /** Three pages of them. */
    const many = Array.from({ length: 120 }, (_, at) => ({ ...PAYMENT[0], amount: "0.001", daysAgo: 400 - at }));
    const endOf = (query: URLSearchParams): number => Number(query.get("items_count") ?? 0) + 50;
    const list = `/addresses/${OWN}/transactions`;
    const gap = (count: number, what: string) => ({
      source: "Blockscout",
      message: `Of its transactions only the newest ${count} could be read: Blockscout answered transactions ${what}`,
      atStake: 99,
    });

    it("does not take a page that is not found for the end of the list", async () => {
      const fault: Fault = ({ name, query }) => (name === list && endOf(query) === 150 ? 404 : undefined);
      const { data } = await investigateIn({ payments: many, manners: { blockscout: { fault } } }, OWN);
      expect(data.missing).to.deep.equal([gap(100, "with status 404")]);
      expect(data.verdict).to.equal("inconclusive");
    });

    for (const [what, count, toPage] of [
      ["lead back to an earlier page", 3, (end: number) => ({ place: end, more: end === 150 ? 50 : end })],
      ["are the first one again under new parameters", 1, (end: number) => ({ place: 0, more: end })],
    ] as const)
      it(`notices pages that ${what}`, async () => {
        const fault: Fault = ({ name, query }) => {
          if (name !== list) return undefined;
          const { place, more } = toPage(endOf(query));
          const item = { ...ITEM, hash: `0x${String(place).padStart(64, "0")}`, status: "ok", value: "5" };
          return JSON.stringify({ items: [item], next_page_params: { items_count: more } });
        };
        const { data } = await investigateIn({ payments: PAYMENT, manners: { blockscout: { fault } } }, OWN);
        expect(data.missing).to.deep.include(gap(count, "with the same page again"));
        expect(data.verdict).to.equal("inconclusive");
      });

    it("takes no newest page for the first one, where an explorer does not sort as it is asked", async () => {
      const busy = Array.from({ length: 5050 }, (_, at) => ({ ...many[0]!, daysAgo: 9 - at / 1000 }));
      const payments = [PAYMENT[0], ...busy];
      const asIs = await investigateIn({ payments }, OWN);
      expect(asIs.data.activity.firstSeenAt).to.be.closeTo(1_800_000_000 - 400 * 86_400, 2);
      const item = {
        ...ITEM,
        hash: HASH,
        status: "ok",
        value: "5",
        timestamp: new Date(1_799_999_000_000).toISOString(),
      };
      const newest = JSON.stringify({ items: [item], next_page_params: { items_count: 50 } });
      const fault: Fault = ({ name, query }) => (name === list && query.get("order") === "asc" ? newest : undefined);
      const { data } = await investigateIn({ payments, manners: { blockscout: { fault } } }, OWN);
      expect(data.activity.firstSeenAt).to.equal(null);
    });

    it("names a counterparty whose second page cannot be read", async () => {
      const fault: Fault = ({ name, query }) =>
        name === `/addresses/${SHOP}/transactions` && endOf(query) === 100 ? 422 : undefined;
      const paid = { from: SHOP, to: OWN, asset: "ETH", amount: "0.5", daysAgo: 1 } as const;
      const payments = [...many.map((payment) => ({ ...payment, to: SHOP })), paid];
      const { data } = await investigateIn({ payments, manners: { blockscout: { fault } } }, OWN);
      const { message } = gap(50, "with status 422");
      expect(data.missing).to.deep.equal([
        {
          source: "counterparties",
          message: `Of 1 direct counterparties 1 could not be followed: ${message}`,
          atStake: 45,
        },
      ]);
    });
  });

  it("has labels that every JSON parser reads, also where one is cut within an emoji", async () => {
    const names = { [FRIEND]: `${"a".repeat(79)}\u{1f600}` };
    const payments = [{ from: SUBJECT.toLowerCase(), to: FRIEND, asset: "ETH", amount: "1", daysAgo: 9 }] as const;
    const { data } = await investigateIn({ payments, explorer: { names } }, SUBJECT);
    expect(data.graph.nodes[1]?.label).to.equal(`${"a".repeat(79)}\ufffd`);
  });
});
