import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createRailMonitor, type RailMonitor } from "../../../runtime/core/payments/rail-monitor.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";

describe("a rail", () => {
  const rail = createScriptedRail();
  let monitor: RailMonitor;
  const state = (): string | undefined => monitor.statuses().get("base")?.state;
  const fail = (code: "facilitator-unavailable" | "unavailable"): void => {
    rail.script.supported = () => {
      throw new Problem(code, "no");
    };
  };
  beforeEach(() => {
    delete rail.script.supported;
    monitor = createRailMonitor({
      rails: [rail],
      trust: { reasonAgainst: () => undefined, refresh: async () => {} },
      onChange: async () => {},
      onError: () => {},
    });
  });
  afterEach(() => monitor.close());

  it("that is up stays up while its facilitator does not answer: that shows when a payment is verified", async () => {
    await monitor.start();
    fail("facilitator-unavailable");
    await monitor.start();
    expect(state()).to.equal("up");
  });

  it("that is up goes down as soon as it is certain that nothing can be paid there, and comes back", async () => {
    await monitor.start();
    fail("unavailable");
    await monitor.start();
    expect(monitor.statuses().get("base")).to.deep.equal({ state: "down", reason: "no" });
    delete rail.script.supported;
    await monitor.start();
    expect(state()).to.equal("up");
  });
});
