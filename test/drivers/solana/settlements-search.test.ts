import { Keypair } from "@solana/web3.js";
import { expect } from "chai";
import { type SeenMessages, searchMessage } from "../../../runtime/drivers/solana/settlements-search.ts";
import { thrown } from "../../support/thrown.ts";
import { type Listed, openNode, SLOT, toTransaction } from "./listing-node.ts";

describe("the search for a message on Solana", () => {
  const payer = Keypair.generate().publicKey;
  const wanted = toTransaction(payer, "wanted");
  const others = (count: number, more: Partial<Listed> = {}): Listed[] =>
    Array.from({ length: count }, () => ({ transaction: other, ...more }));
  const other = toTransaction(payer, "other");
  const search = async (
    listed: readonly Listed[],
    since = SLOT - 1000,
    message = wanted.message,
    seen: SeenMessages = new Map(),
  ) => {
    const { node, state } = openNode(payer, listed);
    const { landed, isComplete } = await searchMessage(node, message, { since, minContextSlot: SLOT }, seen);
    return { ...state, landed: landed?.transaction.signatures[0], isComplete };
  };

  it("looks among the transactions of the second signer, or of the only one", async () => {
    expect(await search([{ transaction: wanted }])).to.include({ landed: "0", isComplete: true });
    const own = toTransaction(payer, "own", true);
    expect(await search([{ transaction: own }], SLOT - 1000, own.message)).to.include({ landed: "0" });
  });

  it("fetches only what has the payment's memo, or may have it", async () => {
    const memos: Partial<Listed>[] = [{ memo: "[5] other" }, { memo: null }, { memo: "[6] wanted" }];
    expect(await search(memos.map((memo) => ({ transaction: other, ...memo })))).to.include({ fetched: 2 });
    const without = toTransaction(payer);
    expect(await search([{ transaction: other, memo: "x" }], SLOT - 1000, without.message)).to.include({ fetched: 1 });
  });

  it("goes back to the slot that is given", async () => {
    const since = SLOT - 1000;
    const slots = [since + 1, since, since - 1].map((slot) => ({ transaction: other, slot }));
    expect(await search(slots)).to.include({ fetched: 2, isComplete: true });
  });

  it("reads page after page until one is not full, or is older", async () => {
    const full = await search([...others(1000, { memo: "no" }), { transaction: wanted }]);
    expect(full).to.deep.include({ lists: [undefined, "999"], landed: "1000", isComplete: true });
    const older = await search([...others(999, { memo: "no" }), ...others(2, { slot: 1 })]);
    expect(older).to.deep.include({ lists: [undefined], landed: undefined, isComplete: true });
    const exact = await search(others(1000, { memo: "no" }));
    expect(exact).to.deep.include({ lists: [undefined, "999"], isComplete: true });
  });

  it("fetches ten at once, and 500 in all: beyond that it is not complete", async () => {
    const many = await search(others(499));
    expect(many).to.deep.include({ fetched: 499, most: 10, isComplete: true });
    const most = await search([...others(500), { transaction: wanted }]);
    expect(most).to.deep.include({ fetched: 500, landed: undefined, isComplete: false });
    const last = await search([...others(499), { transaction: wanted }, ...others(5)]);
    expect(last).to.deep.include({ fetched: 500, landed: "499", isComplete: true });
    const pages = await search([...others(300), ...others(700, { memo: "no" }), ...others(201)]);
    expect(pages).to.deep.include({ fetched: 500, isComplete: false });
  });

  it("goes on where the one before has ended, and fetches nothing twice but what it has found", async () => {
    const [seen, listed] = [new Map(), [...others(1100), { transaction: wanted }, ...others(5)]];
    const again = (message = wanted.message) => search(listed, SLOT - 1000, message, seen);
    for (const _ of [1, 2]) expect(await again()).to.include({ fetched: 500, isComplete: false });
    expect(await again()).to.include({ fetched: 106, landed: "1100", isComplete: true });
    expect(await again()).to.include({ fetched: 1, landed: "1100" });
    expect(await again(toTransaction(payer, "third").message)).to.include({ fetched: 0, isComplete: true });
  });

  it("says that it does not know where the node does not have what it lists", async () => {
    expect(await thrown(search([{ transaction: other, isLost: true }]))).to.be.an("error");
  });
});
