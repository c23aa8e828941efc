import { expect } from "chai";
import { createOrphanWatch, type OrphanWatch } from "../../../runtime/core/jobs/orphans.ts";
import { createJobRecords, type JobRecords } from "../../../runtime/core/jobs/records.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const HOUR = 60 * 60_000;

describe("services that nobody offers any more", () => {
  let time: FrozenTime;
  let records: JobRecords;
  let inLine: string[];
  let did: string[];
  const opened: OrphanWatch[] = [];
  /** How far the clock is set ahead. */
  let aheadMs: number;
  const clock = { now: () => Date.now() + aheadMs };
  const open = (offered: readonly string[]): OrphanWatch => {
    const queue = {
      services: async () => inLine,
      adopt: (service: string) => void did.push(`adopt ${service}`),
      abandon: async (service: string) => void did.push(`abandon ${service}`),
    };
    const watch = createOrphanWatch({
      queue,
      records,
      offered: new Set(offered),
      clock,
      log: silentLog,
      everyMs: 20_000,
    });
    opened.push(watch);
    return watch;
  };
  beforeEach(() => {
    time = freezeTime();
    aheadMs = 0;
    records = createJobRecords({ store: createMemoryStore(clock.now), clock });
    [inLine, did] = [["old"], []];
  });
  afterEach(() => {
    for (const watch of opened.splice(0)) void watch.close();
    time.thaw();
  });
  const minutes = async (count: number): Promise<void> => {
    for (let minute = 0; minute < count; minute += 1) await time.pass(60_000);
  };

  it("have their jobs adopted after an hour, once, and given back when somebody offers them again", async () => {
    open(["new"]).start();
    await minutes(59);
    expect(did).to.deep.equal([]);
    await minutes(3);
    expect(did).to.deep.equal(["adopt old"]);
    inLine = [];
    const other = open(["old"]);
    other.start();
    await minutes(1);
    expect(did).to.deep.equal(["adopt old", "abandon old"]);
    await minutes(90);
    expect(did, "it is offered").to.have.length(2);
  });

  it("are not taken for such while a process offers them, nor within 80 seconds of its last mark", async () => {
    const offering = open(["old"]);
    offering.start();
    const watching = open([]);
    watching.start();
    await minutes(120);
    expect([did, await watching.isOrphaned("old")]).to.deep.equal([[], false]);
    await offering.close();
    await minutes(61);
    expect(did, "the mark has outlived its process").to.deep.equal([]);
    await minutes(2);
    expect(did).to.deep.equal(["adopt old"]);
  });

  it("are not taken for such by a process that has just started: others may be starting too", async () => {
    expect(await open([]).isOrphaned("old")).to.equal(false);
    time.stall(2 * HOUR);
    const watch = open([]);
    expect(await watch.isOrphaned("old")).to.equal(false);
    time.stall(79_999);
    expect(await watch.isOrphaned("old")).to.equal(false);
    time.stall(1);
    expect(await watch.isOrphaned("old")).to.equal(true);
  });

  it("are not taken for such because the clock is set right after a start, while others are starting", async () => {
    const watch = open([]);
    expect(await watch.isOrphaned("old")).to.equal(false);
    aheadMs = 3 * HOUR;
    time.stall(60_000);
    expect(await watch.isOrphaned("old")).to.equal(false);
    time.stall(20_000);
    expect(await watch.isOrphaned("old")).to.equal(true);
  });

  it("are taken for such as soon as ever where the clock was ahead at the start", async () => {
    aheadMs = 24 * HOUR;
    const watch = open([]);
    aheadMs = 0;
    await watch.isOrphaned("old");
    time.stall(HOUR);
    expect(await watch.isOrphaned("old")).to.equal(true);
  });

  it("are sold elsewhere while another process sells their set, and for two minutes after its death", async () => {
    const open = (set: string): OrphanWatch => {
      const queue = { services: async () => [], adopt() {}, abandon: async () => {} };
      const watch = createOrphanWatch({
        ...{ queue, records, set, offered: new Set<string>(), clock, log: silentLog },
        everyMs: 20_000,
      });
      watch.start();
      opened.push(watch);
      return watch;
    };
    const [own, one, other] = [open("new"), open("old"), open("old")];
    await minutes(5);
    const areElsewhere = (): Promise<boolean[]> => Promise.all(["new", "old", undefined].map(own.isSoldElsewhere));
    expect(await areElsewhere()).to.deep.equal([false, true, false]);
    await one.close();
    await minutes(5);
    expect(await areElsewhere(), "the other one sells it").to.deep.equal([false, true, false]);
    await other.close();
    expect(await areElsewhere(), "nobody sells it").to.deep.equal([false, false, false]);
    await minutes(2);
    await records.markSold("old", "dead", true, 80_000);
    expect(await areElsewhere()).to.deep.equal([false, true, false]);
    time.stall(80_000);
    expect(await areElsewhere(), "the mark has expired").to.deep.equal([false, true, false]);
    time.stall(39_999);
    expect(await areElsewhere()).to.deep.equal([false, true, false]);
    time.stall(1);
    expect(await areElsewhere()).to.deep.equal([false, false, false]);
    await records.markSold("old", "late", true, 80_000);
    expect(await areElsewhere()).to.deep.equal([false, true, false]);
    time.stall(80_000);
    expect(await areElsewhere()).to.deep.equal([false, true, false]);
    await records.markSold("old", "late", true, 80_000);
    time.stall(HOUR);
    expect(await areElsewhere(), "the next mark has expired, too").to.deep.equal([false, true, false]);
  });

  it("are looked for every 20 seconds, also after a failure, and never after the end", async () => {
    let looks = 0;
    const queue = {
      services: async () => {
        looks += 1;
        throw new Error("the store is gone");
      },
      adopt() {},
      abandon: async () => {},
    };
    const watch = createOrphanWatch({
      queue,
      records,
      offered: new Set<string>(),
      clock,
      log: silentLog,
      everyMs: 20_000,
    });
    watch.start();
    await time.pass(1);
    await time.pass(19_900);
    expect(looks).to.equal(1);
    await time.pass(100);
    expect(looks).to.equal(2);
    await watch.close();
    await time.pass(200_000);
    expect(looks).to.equal(2);
  });
});
