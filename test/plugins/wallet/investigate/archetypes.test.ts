import { expect } from "chai";
import { offline } from "../../../support/sources/replay.ts";
import { SUBJECT } from "./archetypes/archetype.ts";
import { ORDINARY } from "./archetypes/ordinary.ts";
import { TAINTED } from "./archetypes/tainted.ts";
import { investigateIn } from "./world.ts";

const ARCHETYPES = [...ORDINARY, ...TAINTED];

describe("the verdict of an investigation", function () {
  offline();
  this.timeout(60_000);

  it("is written down for forty kinds of addresses, each once", () => {
    expect(new Set(ARCHETYPES.map(({ name }) => name)).size).to.equal(ARCHETYPES.length);
    expect(ARCHETYPES.length).to.be.at.least(40);
  });

  for (const { name, verdict, why, payments, flags = {}, address = SUBJECT } of ARCHETYPES)
    it(`is ${verdict} for ${name}: ${why}`, async () => {
      const { data } = await investigateIn({ payments, flags }, address);
      const found = data.reasons.map(({ code, points }) => `${code} ${points}`).join(", ");
      expect(data.missing.filter(({ atStake }) => atStake > 0)).to.deep.equal([]);
      expect(data.verdict, `${data.score}: ${found}`).to.equal(verdict);
    });
});
