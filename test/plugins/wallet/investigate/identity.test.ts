import { expect } from "chai";
import { type CorrelationInput, correlate } from "../../../../plugins/wallet/investigate/collection/correlation.ts";
import type { Transfer } from "../../../../plugins/wallet/investigate/sources/transfers.ts";
import type { NameRegistry } from "../../../../plugins/wallet/names/registry.ts";
import { Problem } from "../../../../runtime/api/plugin.ts";
import { SUBJECT } from "./evidence.ts";

const { signal } = new AbortController();
const FUNDER = `0x${"f".repeat(40)}`;
const KEY = "HKKp49qGWXd639QsuH7JiLijfVW5UtCVY4s1n2HANwEA";
const toAddress = (at: number): string => `0x${String(at).padStart(40, "0")}`;

const toFunding = (to: string): Transfer => ({
  id: to,
  tx: "0x1",
  from: FUNDER,
  to,
  asset: "ETH",
  units: "1",
  at: 1,
});

/** A subject that FUNDER funded, with so many counterparties that FUNDER funded, too. */
const toKnown = (alike: number, ensName: string | null = null): CorrelationInput => {
  const others = Array.from({ length: alike }, (_, at) => toAddress(at + 1));
  return {
    subject: { family: "evm", address: SUBJECT },
    ensName,
    funding: toFunding(SUBJECT),
    neighbourhood: {
      members: [
        { address: SUBJECT, hop: 0, contacts: alike },
        ...others.map((address) => ({ address, hop: 1 as const, contacts: 1 })),
      ],
      funding: others.map((to) => toFunding(to)),
      flows: [],
      counterparties: alike,
      cut: 0,
      behind: 0,
      labels: [],
      missing: [],
    },
  };
};

const silent: NameRegistry = {
  resolve: () => Promise.reject(new Problem("upstream-failed")),
  primaryName: async () => null,
};

describe("the identities around an investigated address", () => {
  it("have the names that the counterparties' owners chose", async () => {
    const ENS: NameRegistry = {
      ...silent,
      primaryName: async (address) => (address === toAddress(2) ? "two.eth" : null),
    };
    const { names, missing } = await correlate(toKnown(3), { ENS, SNS: silent }, signal);
    expect(names).to.deep.equal({ [toAddress(2)]: "two.eth" });
    expect(missing).to.deep.equal([]);
  });

  it("count the names that could not be looked up", async () => {
    const ENS: NameRegistry = {
      ...silent,
      primaryName: (address) =>
        (address === toAddress(2) ? silent.resolve("", signal) : Promise.resolve(null)) as never,
    };
    const { missing } = await correlate(toKnown(3), { ENS, SNS: silent }, signal);
    expect(missing).to.deep.equal([
      { source: "names of counterparties", message: "1 of 3 names could not be looked up", atStake: 0 },
    ]);
  });

  it("are linked by the Solana wallet that an ENS name gives, and not by the address itself", async () => {
    const ENS: NameRegistry = {
      ...silent,
      resolve: async () => ({
        addresses: [
          { chain: "ethereum", address: SUBJECT.toUpperCase().replace("0X", "0x"), ttl_hint_seconds: 1 },
          { chain: "solana", address: KEY, ttl_hint_seconds: 1 },
        ],
        notes: [],
      }),
    };
    const { links } = await correlate(toKnown(0, "subject.eth"), { ENS, SNS: silent }, signal);
    expect(links).to.deep.equal([{ address: KEY, reason: "ens-record" }]);
  });

  it("say that the name's other addresses could not be read", async () => {
    const { missing } = await correlate(toKnown(0, "subject.eth"), { ENS: silent, SNS: silent }, signal);
    expect(missing.map(({ source }) => source)).to.deep.equal(["ENS records"]);
  });

  it("say so, too, when the name's address on Solana alone could not be read", async () => {
    const addresses = [{ chain: "ethereum" as const, address: SUBJECT, ttl_hint_seconds: 1 }];
    const ENS: NameRegistry = { ...silent, resolve: async () => ({ addresses, notes: [], isPartial: true }) };
    const { links, missing } = await correlate(toKnown(0, "subject.eth"), { ENS, SNS: silent }, signal);
    expect(links).to.deep.equal([]);
    expect(missing.map(({ source }) => source)).to.deep.equal(["ENS records"]);
  });

  it("are linked by the same funder, unless it has funded as many as an exchange does", async () => {
    const linksOf = async (alike: number) =>
      (await correlate(toKnown(alike), { ENS: silent, SNS: silent }, signal)).links.map(({ reason }) => reason);
    expect(await linksOf(4)).to.deep.equal(Array.from({ length: 4 }, () => "shared-funding"));
    expect(await linksOf(5)).to.deep.equal([]);
  });

  it("are left alone when the call is ended", async () => {
    const reason = new Problem("deadline-exceeded");
    const ended = correlate(toKnown(1), { ENS: silent, SNS: silent }, AbortSignal.abort(reason));
    expect(await ended.catch((error: unknown) => error)).to.equal(reason);
  });
});
