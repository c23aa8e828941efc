import { constants, deflateRawSync, deflateSync } from "node:zlib";

/** A page as sites make them, around an article. */
export const toPage = (article: string, head = "<title>Tides</title>"): string =>
  `<!doctype html><html lang="en"><head>${head}</head><body>
  <nav><a href="/">Home</a> <a href="/shop">Shop</a></nav><main><article>${article}</article></main>
  <aside>Subscribe to our newsletter</aside><footer>Copyright 2026</footer><script>track("visit")</script></body></html>`;

export const PARAGRAPHS = [
  "The tide rises and falls twice a day, because the moon pulls at the water of the seas.",
  "In the Bay of Fundy the difference is sixteen metres, more than anywhere else.",
];

export const ARTICLE = PARAGRAPHS.map((text) => `<p>${text}</p>`).join("");

/** The smallest PDF that holds these pages. @param pages content streams. */
export const toPdf = (pages: readonly Buffer[]): Buffer => toPdfOf(pages.map((content) => deflateSync(content)));

/** One whose only page unpacks to so many megabytes of blanks. No more than one of them is ever packed. */
export function toPdfBomb(megabytes: number): Buffer {
  const header = Buffer.from("7801", "hex"); // RFC 1950. The checksum at the end is left out: nobody gets as far as that.
  const blank = deflateRawSync(Buffer.alloc(2 ** 20, " "), { finishFlush: constants.Z_FULL_FLUSH });
  return toPdfOf([Buffer.concat([header, ...Array.from({ length: megabytes }, () => blank)])]);
}

/** One whose font has glyphs, and no table that says which letters they are (`ToUnicode`). */
export function toPdfWithoutLetters(text: string): Buffer {
  const glyphs = [...text].map((letter) => (letter.charCodeAt(0) - 29).toString(16).padStart(4, "0")).join("");
  const name = "/BaseFont /ABCDEF+Font";
  const system = "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>";
  return toPdfOf(
    [deflateSync(Buffer.from(`BT /F1 12 Tf 72 720 Td <${glyphs}> Tj ET`))],
    `<< /Type /Font /Subtype /Type0 ${name} /Encoding /Identity-H /DescendantFonts [6 0 R] >>`,
    `<< /Type /Font /Subtype /CIDFontType2 ${name} ${system} /DW 500 /FontDescriptor 7 0 R >>`,
    "<< /Type /FontDescriptor /FontName /ABCDEF+Font /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /StemV 80 >>",
  );
}

/**
 * One line in Latin letters, and one in Japanese of two bytes each (UTF-16), as tables of Adobe's tell, or the table inside.
 * @param unicode the table inside (`ToUnicode`).
 */
export function toJapanesePdf(encoding: string, japanese: string, unicode?: string): Buffer {
  const line = Buffer.from(japanese, "utf16le").swap16().toString("hex");
  const name = "/BaseFont /KozMinPr6N-Regular";
  const system = "/CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 6 >>";
  return toPdfOf(
    [deflateSync(Buffer.from(`BT /F2 12 Tf 72 720 Td (Report 2026) Tj /F1 12 Tf 0 -20 Td <${line}> Tj ET`))],
    `<< /Type /Font /Subtype /Type0 ${name} /Encoding /${encoding} /DescendantFonts [6 0 R] ${unicode === undefined ? "" : "/ToUnicode 8 0 R"} >>`,
    `<< /Type /Font /Subtype /CIDFontType0 ${name} ${system} /DW 1000 /FontDescriptor 7 0 R >>`,
    "<< /Type /FontDescriptor /FontName /KozMinPr6N-Regular /Flags 6 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 880 /StemV 80 >>",
    ...(unicode === undefined ? [] : [`<< /Length ${unicode.length} >>\nstream\n${unicode}\nendstream`]),
  );
}

/** A table in which each code of two bytes is a letter of UTF-16. */
export const UTF_16_TABLE =
  "/CIDInit /ProcSet findresource begin begincmap /CMapType 2 def 1 begincodespacerange <0000> <FFFF> endcodespacerange " +
  "1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap end";

const HELVETICA = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

/** ISO 32000-1, 7.5. @param pages content streams, deflated. @param more objects behind those of the pages. */
function toPdfOf(pages: readonly Buffer[], font = HELVETICA, ...more: readonly string[]): Buffer {
  const kids = pages.map((_, at) => `${4 + 2 * at} 0 R`).join(" ");
  const objects = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from(`<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`),
    Buffer.from(font),
    ...pages.flatMap((content, at) => [toPageObject(5 + 2 * at), toStream(content)]),
    ...more.map((object) => Buffer.from(object)),
  ].map((body, at) => Buffer.concat([Buffer.from(`${at + 1} 0 obj\n`), body, Buffer.from("\nendobj\n")]));
  const header = Buffer.from("%PDF-1.4\n");
  let offset = header.length;
  const rows = objects.map(({ length }) => {
    offset += length;
    return `${String(offset - length).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  const trailer = `xref\n0 ${size}\n0000000000 65535 f \n${rows.join("")}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${offset}\n%%EOF\n`;
  return Buffer.concat([header, ...objects, Buffer.from(trailer)]);
}

/** A page's content: one line of Helvetica below the other. */
export const toLines = (...lines: readonly string[]): Buffer =>
  Buffer.from(`BT /F1 12 Tf 72 720 Td 14 TL ${lines.map((line) => `(${line}) Tj T*`).join(" ")} ET`);

const toPageObject = (content: number): Buffer =>
  Buffer.from(
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R /F2 ${HELVETICA} >> >> /Contents ${content} 0 R >>`,
  );

function toStream(packed: Buffer): Buffer {
  const head = `<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`;
  return Buffer.concat([Buffer.from(head), packed, Buffer.from("\nendstream")]);
}
