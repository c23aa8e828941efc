import { expect } from "chai";
import { toDescription, toServiceId, toTitle, toVariable, toWord } from "../../../runtime/cli/import/names.ts";

describe("the names of an imported API", () => {
  it("keep the letters of all Latin alphabets", () => {
    expect(toWord("Łódź Straßen Ærø")).to.equal("lodz-strassen-aero");
    expect(toServiceId("kurzy", "přehledKurzů")).to.equal("kurzy_prehled_kurzu");
    expect(toTitle("Şehir ığdır – 天気", "")).to.equal("Sehir igdir -");
  });

  it("are not changed where Latin-1 has the letter", () => {
    expect(toDescription("Größe, ærlig, złoty, ½ “šest”", "")).to.equal('Größe, ærlig, zloty, ½ "sest"');
  });

  it("are no variables of payphone's own", () => {
    expect(toVariable("pet-store", "KEY")).to.equal("PET_STORE_KEY");
    for (const own of ["facilitator", "redis", "payphone", "2fa"])
      expect(toVariable(own, "URL")).to.equal(`API_${own.toUpperCase()}_URL`);
  });
});
