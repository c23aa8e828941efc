import { expect } from "chai";
import { stringify } from "yaml";
import { reversalId } from "../../../runtime/core/books/events.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { toSale } from "../../support/books/sales.ts";
import { sharedSandbox, site } from "../../support/chains/chains.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";

const DEVNET = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";

describe("payphone books verify with a node of another chain", () => {
  const data = createFolder();
  before(async () => (await openStore({ dataDir: data })).close());

  it("names the rail, and compares the others", async () => {
    const { env } = await sharedSandbox();
    const rails = site.rails.map((rail) => (rail.id === "solana" ? { ...rail, network: DEVNET } : rail));
    const dir = await makeDirectory({ "manifests/_site.yaml": stringify({ ...site, rails }) });
    const other = { ...env, PAYPHONE_DATA_DIR: data, BASE_RPC_URL: env.POLYGON_RPC_URL as string };
    const { out, err, code } = await runPayphone(["books", "verify", "--dir", dir], other);
    expect(err.match(/^\w+: not compared: .*(?:chain 137 instead of 8453|another chain)/gm), err).to.have.length(2);
    expect([code, out.match(/^\w+(?=:)/gm)], out).to.deep.equal([1, ["polygon"]]);
  });

  it("says that sales before its chain's beginning are not compared: a sandbox that was started again", async () => {
    const { env } = await sharedSandbox();
    const { network, asset } = site.rails[0] as (typeof site.rails)[number];
    const store = await openStore({ dataDir: data });
    await store.enter(toSale({ network, asset }), { key: "sale", value: 1 });
    await store.close();
    const span = ["--from", "2026-05-01", "--to", "2026-06-01", "--rail", "base"]; // Others use the chain now.
    const { out, err, code } = await runPayphone(["books", "verify", ...span], {
      ...env,
      PAYPHONE_DATA_DIR: data,
    });
    expect([code, out]).to.deep.equal([0, "base: 0 sales, 0 USDC in the book, 0 USDC of it on the chain\n"]);
    expect(err).to.match(/^base: its chain began at \S+Z: earlier lines of the book are not compared$/m);
  });

  it("tells a sum below zero: what was taken back in the span was sold before it", async () => {
    const { env } = await sharedSandbox();
    const { network, asset } = site.rails[0] as (typeof site.rails)[number];
    const now = Date.now();
    const sale = toSale({ network, asset, at: now - 3_600_000 });
    const taken = { kind: "reversal", id: reversalId("reversal", sale.id), at: now, sale: sale.id } as const;
    const store = await openStore({ dataDir: data });
    for (const event of [sale, taken]) await store.enter(event, { key: event.id, value: 1 });
    await store.close();
    const span = [
      "--from",
      new Date(now - 1000).toISOString(),
      "--to",
      new Date(now + 1).toISOString(),
      "--rail",
      "base",
    ];
    const { out } = await runPayphone(["books", "verify", ...span], { ...env, PAYPHONE_DATA_DIR: data });
    expect(out).to.match(/^base: -1 sales, -0.001 USDC in the book, -0.001 USDC of it on the chain$/m);
  });

  it("does not take sales for none where no address that received them is known", async () => {
    const { env } = await sharedSandbox();
    const { network, asset } = site.rails[0] as (typeof site.rails)[number];
    const place = createFolder();
    const store = await openStore({ dataDir: place });
    await store.enter(toSale({ network, asset, at: Date.now(), receiver: "somebody" }), { key: "sale", value: 1 });
    await store.close();
    const unset = { ...env, PAYPHONE_DATA_DIR: place, BASE_PAYMENT_ADDRESS: "" };
    const { err, code } = await runPayphone(["books", "verify", "--rail", "base"], unset);
    expect([code, err]).to.deep.equal([1, "base: not compared, no receiving address is known; the book has sales\n"]);
  });
});
