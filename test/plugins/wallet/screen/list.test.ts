import { expect } from "chai";
import fc from "fast-check";
import { FLOOR } from "../../../../plugins/wallet/screen/floor.ts";
import { createSanctions, type Sanctions } from "../../../../plugins/wallet/screen/sanctions.ts";
import { createCache } from "../../../../runtime/drivers/store/cache.ts";
import { createMemoryStore } from "../../../support/store/memory-store.ts";
import { createHost, NOW, problemOf } from "../../host.ts";
import { type Entry, toNumberedAddress, toSdnDocument } from "./sdn-document.ts";
import { breaksOffAfter, openSdnServer, type SdnServer, sends } from "./sdn-server.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RONIN = "0x098b716b8aaf21512996dc57eb0615e2383e2f96";
const NEW = toNumberedAddress(1);

/** Ten entries with an address each, from `first` on. */
const entries = (first: number, count = 10): Entry[] =>
  Array.from({ length: count }, (_, at) => ({
    uid: first + at,
    lastName: `PERSON ${first + at}`,
    addresses: [["ETH", toNumberedAddress(first + at)]],
  }));
const LIST = toSdnDocument("09/10/2026", entries(1));

describe("the sanctions list", () => {
  let server: SdnServer;
  let now: number;
  let store: ReturnType<typeof createMemoryStore>;
  before(async () => {
    server = await openSdnServer();
  });
  beforeEach(() => {
    now = NOW;
    server.asked = 0;
    server.answer = sends(LIST);
    store = createMemoryStore(() => now);
  });
  after(() => server.close());

  /** A process on the store that all of a test share. */
  function start(logged: unknown[] = []): Sanctions & { refresh(signal?: AbortSignal): Promise<void> } {
    const clock = { now: () => now };
    const log = { info: (...line: unknown[]) => void logged.push(line), warn() {}, error() {} };
    const cache = createCache({ store, namespace: "wallet", clock, log });
    const host = createHost({ cache, clock, log }, { urls: { ofac: server.url }, retries: 0 });
    const sanctions = createSanctions(host);
    return { ...sanctions, refresh: (signal = AbortSignal.timeout(10_000)) => host.tasks.get("ofac")!(signal) };
  }
  const namesOf = async (list: Sanctions, key: string): Promise<string[]> =>
    (await list.search(key)).entries.map(({ name }) => name);

  it("is a small built-in one, and says so, until OFAC's has been read", async () => {
    const list = start();
    expect(await namesOf(list, RONIN)).to.deep.equal(["LAZARUS GROUP"]);
    expect((await list.search(NEW)).entries).to.deep.equal([]);
    expect(await list.search(RONIN)).to.deep.include({ isCurrent: false });
    expect((await list.search(RONIN)).corpus.version).to.match(/^builtin-2022-05-06-[0-9a-f]{12}$/);
    expect(server.asked).to.equal(0);
  });

  it("is OFAC's as soon as it has been read, and what was built in is gone", async () => {
    const logged: unknown[] = [];
    const list = start(logged);
    await list.refresh();
    expect(await namesOf(list, NEW)).to.deep.equal(["PERSON 1"]);
    expect(await namesOf(list, RONIN)).to.deep.equal([]);
    const { corpus, isCurrent } = await list.search(NEW);
    expect(corpus.version).to.match(/^ofac-sdn-2026-09-10-[0-9a-f]{12}$/);
    expect(isCurrent).to.equal(true);
    expect(logged).to.deep.equal([["screen.list-read", { version: corpus.version, addresses: 10 }]]);
  });

  it("is read again when it is a day old, and not before", async () => {
    const list = start();
    await list.refresh();
    server.answer = sends(toSdnDocument("09/11/2026", entries(2)));
    now += DAY_MS - 1;
    await list.refresh();
    expect(await namesOf(list, NEW)).to.deep.equal(["PERSON 1"]);
    now += 1;
    await list.refresh();
    expect(await namesOf(list, NEW)).to.deep.equal([]);
    expect(await namesOf(list, toNumberedAddress(11))).to.deep.equal(["PERSON 11"]);
    expect(server.asked).to.equal(2);
  });

  it("is the last good one after a restart, at once and without OFAC", async () => {
    await start().refresh();
    server.answer = (response) => response.writeHead(503).end();
    now += DAY_MS + 1;
    const restarted = start();
    expect(await namesOf(restarted, NEW)).to.deep.equal(["PERSON 1"]);
    expect((await problemOf(restarted.refresh())).code).to.equal("upstream-failed");
    expect(await restarted.search(NEW)).to.deep.include({ isCurrent: true });
  });

  it("is read once for all processes that share a store, old ones included", async () => {
    const [reader, other] = [start(), start()];
    await other.search(NEW);
    await reader.refresh();
    await other.refresh();
    expect(await namesOf(other, NEW)).to.deep.equal(["PERSON 1"]);
    expect((await other.search(NEW)).corpus).to.deep.include({ ...(await reader.search(NEW)).corpus });
    expect(server.asked).to.equal(1);
  });

  it("is not good for a clean answer any more when it could not be read for a week", async () => {
    const list = start();
    await list.refresh();
    now += 7 * DAY_MS - 1;
    expect(await list.search(RONIN)).to.deep.include({ isCurrent: true });
    now += 1;
    expect(await list.search(RONIN)).to.deep.include({ isCurrent: false });
    expect(await namesOf(list, NEW)).to.deep.equal(["PERSON 1"]);
  });

  it("is read again, and not trusted until then, when the clock went a year ahead and was set back", async () => {
    now += 365 * DAY_MS;
    const list = start();
    await list.refresh();
    now -= 365 * DAY_MS;
    expect(await list.search(NEW)).to.deep.include({ isCurrent: false });
    await list.refresh();
    expect(await list.search(NEW)).to.deep.include({ isCurrent: true });
    expect(server.asked).to.equal(2);
    now += 7 * DAY_MS;
    expect(await start().search(NEW), "after a restart").to.deep.include({ isCurrent: false });
  });

  it("names all who are listed with an address, under any of its tickers", async () => {
    const shared = toNumberedAddress(7).toUpperCase().replace("0X", "0x");
    const more: Entry = {
      uid: 99,
      lastName: "PARTNER",
      addresses: [
        ["USDT", shared],
        ["BSC", shared],
      ],
    };
    server.answer = sends(toSdnDocument("09/10/2026", [...entries(1), more]));
    const list = start();
    await list.refresh();
    expect(await namesOf(list, toNumberedAddress(7))).to.deep.equal(["PERSON 7", "PARTNER"]);
  });

  describe("is never replaced by a file that", () => {
    const refused: readonly [what: string, answer: SdnServer["answer"]][] = [
      ["is cut short where the connection stands", sends(LIST.slice(0, LIST.indexOf("PERSON 8")))],
      ["is cut short by the connection", breaksOffAfter(LIST, 3000)],
      ["is empty", sends("")],
      ["has no addresses", sends(toSdnDocument("09/11/2026", []))],
      ["has fewer than half of the addresses", sends(toSdnDocument("09/11/2026", entries(1, 4)))],
      ["is older", sends(toSdnDocument("09/09/2026", entries(2)))],
      ["is dated in the future", sends(toSdnDocument("01/18/2027", entries(2)))],
      ["is a page in HTML", sends("<!DOCTYPE html><html><body><br>Maintenance</body></html>")],
      ["comes with an error's status", (response) => response.writeHead(403).end(LIST)],
      ["is not there", (response) => response.writeHead(404).end()],
      ["has a date that there is not", sends(LIST.replace("09/10/2026", "13/31/2026"))],
      ["has a date that means nothing", sends(LIST.replace("09/10/2026", "soon"))],
    ];
    for (const [what, answer] of refused)
      it(what, async () => {
        const list = start();
        await list.refresh();
        const good = await list.search(NEW);
        now += DAY_MS;
        server.answer = answer;
        expect((await problemOf(list.refresh())).code).to.equal("upstream-failed");
        expect(await list.search(NEW)).to.deep.equal(good);
        expect(await start().search(NEW), "after a restart").to.deep.equal(good);
        server.answer = sends(LIST);
        await list.refresh();
        expect(await list.search(NEW)).to.deep.include({ corpus: good.corpus, isCurrent: true });
      });

    it("is cut short at any byte", async () => {
      const list = start();
      await list.refresh();
      const good = await list.search(NEW);
      now += DAY_MS;
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 0, max: LIST.trimEnd().length - 1 }),
          fc.boolean(),
          async (length, isHonest) => {
            server.answer = isHonest ? sends(LIST.slice(0, length)) : breaksOffAfter(LIST, length);
            expect((await problemOf(start().refresh())).code).to.equal("upstream-failed");
            expect(await start().search(NEW)).to.deep.equal(good);
          },
        ),
        { numRuns: 60 },
      );
    });
  });

  it("may lose up to half of its addresses", async () => {
    const list = start();
    await list.refresh();
    now += DAY_MS;
    server.answer = sends(toSdnDocument("09/11/2026", entries(6, 5)));
    await list.refresh();
    expect(await namesOf(list, NEW)).to.deep.equal([]);
  });

  it("takes the place of the built-in one only when it is no mere fragment", async () => {
    server.answer = sends(toSdnDocument("09/11/2026", entries(1, 3)));
    const list = start();
    expect((await problemOf(list.refresh())).message).to.match(/shrunk to less than half: 3 addresses instead of 8/);
    expect((await list.search(RONIN)).corpus.version).to.equal(FLOOR.version);
  });

  it("is searched while a new one is coming in", async () => {
    const list = start();
    await list.refresh();
    now += DAY_MS;
    let finish: (() => void) | undefined;
    const hasBegun = new Promise<void>((resolve) => {
      server.answer = (response) => {
        response.writeHead(200).write(LIST.slice(0, 5000), () => resolve());
        finish = () => response.end(LIST.slice(5000).replace("PERSON 10", "PERSON TEN"));
      };
    });
    const refreshed = list.refresh();
    await hasBegun;
    expect(await namesOf(list, toNumberedAddress(10))).to.deep.equal(["PERSON 10"]);
    finish?.();
    await refreshed;
    expect(await namesOf(list, toNumberedAddress(10))).to.deep.equal(["PERSON TEN"]);
  });

  it("stays as it is when the server closes in the middle of a reading", async () => {
    const list = start();
    const closing = new AbortController();
    server.answer = (response) => {
      response.writeHead(200).write(LIST.slice(0, 5000), () => closing.abort(new Error("closing")));
    };
    const outcome = await list.refresh(closing.signal).catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(Error).with.property("message", "closing");
    expect((await list.search(RONIN)).corpus.version).to.equal(FLOOR.version);
  });
});
