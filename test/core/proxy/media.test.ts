import { expect } from "chai";
import { toFile } from "../../../runtime/core/proxy/media.ts";

describe("a service that sells files", () => {
  const manifest = { media: { type: "image/png", max_bytes: 100 } } as unknown as Parameters<
    typeof toFile
  >[0]["manifest"];
  const file = { media: "image/png", data: "AAAA" };

  it("answers with them, and with JSON where it was JSON that somebody has bought before", () => {
    expect(toFile({ manifest }, file)).to.equal(file);
    expect(toFile({ manifest }, { words: 3 })).to.equal(undefined);
    expect(toFile({ manifest: {} }, file)).to.equal(undefined);
    expect(toFile({ manifest, job: {} }, file)).to.equal(undefined);
  });
});
