import { expect } from "chai";
import { facilitatorsOf } from "../../../runtime/core/rails/facilitators.ts";
import { withRetiredRails } from "../../../runtime/core/rails/retired.ts";
import type { RailManifest, SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { amountOn } from "../../../runtime/core/set/price.ts";
import { BASE_RAIL } from "../../support/chains/scripted-rail.ts";
import { toSite } from "../../support/sellers/dice.ts";

const { facilitator: _, ...BASE } = BASE_RAIL;
const EURO: RailManifest = { ...BASE, id: "euro", asset: `0x${"e".repeat(40)}`, symbol: "EURC", currency: "eur" };
const YEN: RailManifest = { ...BASE, id: "yen", asset: `0x${"f".repeat(40)}`, currency: "jpy", decimals: 18 };

const site = (rails: readonly RailManifest[], more: Partial<SiteManifest> = {}): SiteManifest => ({
  ...toSite([]),
  rails,
  ...more,
});
const ids = ({ rails }: SiteManifest): readonly string[] => rails.map(({ id }) => id);
const settlersOf = (whole: SiteManifest, id: string): readonly string[] =>
  facilitatorsOf(whole.rails.find((rail) => rail.id === id) as RailManifest, whole);

describe("a site with the rails of earlier ones", () => {
  it("has them after its own, each once, and none whose token it takes itself", () => {
    const other = { ...BASE, id: "other", asset: BASE.asset.toLowerCase() };
    expect(ids(withRetiredRails(site([BASE]), [site([EURO, other]), site([EURO, YEN])]))).to.deep.equal([
      "base",
      "euro",
      "yen",
    ]);
    const own = site([BASE]);
    expect(withRetiredRails(own, [site([other])])).to.equal(own);
  });

  it("settles them by the facilitators of then, and its own rails by its own", () => {
    const now = site([BASE], { facilitators: [{ id: "new", url: "https://new.example" }] });
    const before = site([EURO], { facilitators: ["old", "older"].map((id) => ({ id, url: `https://${id}.example` })) });
    const whole = withRetiredRails(now, [before, site([YEN])]);
    expect(settlersOf(whole, "base")).to.deep.equal(["new"]);
    expect(settlersOf(whole, "euro")).to.deep.equal(["old", "older"]);
    expect(settlersOf(whole, "yen")).to.deep.equal(["remote"]);
    expect(whole.facilitators?.map(({ id }) => id)).to.deep.equal(["new", "old", "older"]);
  });

  it("knows their prices, and does not change its own", () => {
    const before = site([EURO, YEN], {
      currencies: { eur: { tiers: { "0.01": "0.02" } }, jpy: { tiers: { "0.01": "9" } } },
    });
    const whole = withRetiredRails(site([BASE], { yen_tiers: { "0.01": "2" } }), [before]);
    expect(amountOn(EURO, "0.01", whole)).to.equal(20_000n);
    expect(amountOn(YEN, "0.01", whole)).to.equal(2n * 10n ** 18n);
  });

  it("takes no test money where it takes real money, and the other way round", () => {
    const test = { ...EURO, testnet: true };
    expect(ids(withRetiredRails(site([BASE]), [site([test])]))).to.deep.equal(["base"]);
    expect(ids(withRetiredRails(site([test]), [site([BASE])]))).to.deep.equal(["euro"]);
  });
});
