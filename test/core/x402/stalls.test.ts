import { expect } from "chai";
import { createStalls, type Stalls } from "../../../runtime/core/x402/stalls.ts";

const WHY = "it has no gas";

describe("a rail whose payments are verified and not settled", () => {
  let now: number;
  let stalls: Stalls;
  beforeEach(() => {
    now = Date.UTC(2026, 0, 1);
    stalls = createStalls({ now: () => now });
    stalls.failed("base", WHY);
  });

  it("is a warning after a minute, until a payment on it is settled", () => {
    now += 59_999;
    stalls.failed("base", WHY);
    stalls.settled("solana");
    expect(stalls.warnings()).to.deep.equal([]);
    now += 1;
    stalls.failed("base", WHY);
    expect(stalls.warnings()).to.deep.equal([
      "Payments on the rail base are verified, and none has been settled since 2026-01-01T00:00:00.000Z: it has no gas",
    ]);
    stalls.settled("base");
    expect(stalls.warnings()).to.deep.equal([]);
  });

  it("is none once nothing has been tried for longer than a pause lasts", () => {
    now += 60_000;
    stalls.failed("base", WHY);
    now += 90_000;
    expect(stalls.warnings()).to.deep.equal([]);
    stalls.failed("base", WHY);
    expect(stalls.warnings(), "the next one begins anew").to.deep.equal([]);
  });
});
