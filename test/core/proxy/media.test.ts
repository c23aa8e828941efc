import { expect } from "chai";
import { explainMedia, toFile } from "../../../runtime/core/proxy/media.ts";
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

  it("never answers with a page, however wide its type is", () => {
    const text = Buffer.from("<p>hello");
    expect(explainMedia({ type: "text/*", max_bytes: 100 }, "text/plain", text)).to.equal(undefined);
    expect(explainMedia({ type: "text/*", max_bytes: 100 }, "text/html", text)).to.equal("it is text/html, not text/*");
  });
});
