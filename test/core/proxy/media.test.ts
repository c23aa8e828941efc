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

  it("tells a picture from sound and film in the same container", () => {
    const media = { type: "image/webp", max_bytes: 100 };
    const toRiff = (kind: string): Buffer => Buffer.from(`RIFF\u0024\u0000\u0000\u0000${kind}`, "latin1");
    expect(explainMedia(media, "image/webp", toRiff("WEBPVP8 "))).to.equal(undefined);
    for (const kind of ["WAVEfmt ", "AVI LIST"]) {
      expect(explainMedia(media, "image/webp", toRiff(kind))).to.equal("it is no image/webp");
      expect(explainMedia(media, "application/octet-stream", toRiff(kind))).to.match(/octet-stream, not image\/webp$/);
    }
  });

  it("never answers with a page, however wide its type is", () => {
    const text = Buffer.from("<p>hello");
    expect(explainMedia({ type: "text/*", max_bytes: 100 }, "text/plain", text)).to.equal(undefined);
    expect(explainMedia({ type: "text/*", max_bytes: 100 }, "text/html", text)).to.equal("it is text/html, not text/*");
    const page = Buffer.from('\ufeff <html lang="en"><title>Sign in');
    for (const type of ["text/csv", "image/svg+xml", "audio/mpeg"])
      expect(explainMedia({ type, max_bytes: 100 }, type, page)).to.equal(`it is no ${type}`);
    for (const type of ["text/plain", "application/xml", "application/vnd.ms-excel"])
      expect(explainMedia({ type, max_bytes: 100 }, type, page)).to.equal(undefined);
  });
});
