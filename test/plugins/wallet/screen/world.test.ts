import { expect } from "chai";
import wallet from "../../../../plugins/wallet/index.ts";
import { createWorldClock, type WorldClock } from "../../../support/world/clock.ts";
import { openGoPlus, TOO_MANY } from "../../../support/world/goplus.ts";
import { askForPause } from "../../../support/world/manners.ts";
import type { WorldSource } from "../../../support/world/source.ts";
import { createHost, type Reach, type Serve, serve } from "../../host.ts";
import { FAULTS } from "../faults.ts";

const THIEF = `0x${"ab".repeat(20)}`;
const RONIN = "0x098B716B8Aaf21512996dC57EB0615e2383E2f96";

describe("a screening by GoPlus as it is in the world", () => {
  let clock: WorldClock;
  let goplus: WorldSource;
  let ask: Serve;
  beforeEach(async () => {
    clock = createWorldClock();
    goplus = await openGoPlus({ clock, flags: { [THIEF]: ["stealing_attack"] } });
    ask = await start();
  });
  afterEach(() => goplus.close());
  const start = (reach: Reach = {}): Promise<Serve> =>
    serve("screen", wallet, createHost({ clock }, { urls: { goplus: goplus.url }, pause: clock.pause, ...reach }));

  for (const [what, line] of Object.entries({ ...FAULTS, "its limit in the body": TOO_MANY }))
    it(`is partial and allows nothing when GoPlus gives ${what}, and still knows the list`, async () => {
      let timeoutMs = 200;
      ask = await start({ timeoutMs: () => timeoutMs, retries: 0 });
      goplus.behave({ fault: () => line });
      expect(await ask({ wallet: THIEF })).to.deep.include({ partial: true, recommendation: "review", signals: [] });
      expect(await ask({ wallet: RONIN })).to.include({ partial: true, recommendation: "block" });
      goplus.behave({});
      timeoutMs = 60_000;
      clock.pass(120_000);
      expect(await ask({ wallet: THIEF })).to.include({ partial: false, recommendation: "block" });
    });

  it("keeps to 30 requests a minute, however many addresses are asked about", async () => {
    goplus.behave({ rate: { perSecond: 0.5, burst: 30 }, refusal: askForPause(60) });
    for (let at = 0; at < 60; at += 1) {
      const address = `0x${at.toString(16).padStart(40, "0")}`;
      expect(await ask({ wallet: address }), address).to.include({ partial: false });
    }
    expect(goplus.refused()).to.equal(0);
  });

  it("counts the flags of an answer in part, and asks again", async () => {
    await goplus.close();
    goplus = await openGoPlus({ clock, flags: { [THIEF]: ["stealing_attack"] }, partialFirst: 1 });
    ask = await start();
    expect(await ask({ wallet: THIEF })).to.include({ partial: true });
    expect(await ask({ wallet: THIEF })).to.include({ partial: false, recommendation: "block" });
  });
});
