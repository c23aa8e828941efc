import { expect } from "chai";
import { toFile } from "../../../runtime/core/proxy/media.ts";
import type { JobManifest } from "../../../runtime/core/set/manifest.ts";

describe("a service that sells files", () => {
  const manifest = { media: { type: "image/png", max_bytes: 100 } } as const;
  const file = { media: "image/png", data: "AAAA" };

  it("answers with them, and with JSON where it was JSON that somebody has bought before", () => {
    expect(toFile(manifest, file)).to.equal(file);
    expect(toFile(manifest, { words: 3 })).to.equal(undefined);
    expect(toFile({}, file)).to.equal(undefined);
    expect(toFile({ ...manifest, job: {} as JobManifest }, file)).to.equal(undefined);
  });
});
