/** The bytes of an .ico file that holds one PNG of 256 by 256 pixels, as every browser since 2007 reads it. */
export function toIco(png: Buffer): Buffer {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2); // an icon …
  head.writeUInt16LE(1, 4); // … with one picture; width and height stay 0, which means 256
  head.writeUInt16LE(1, 10); // planes
  head.writeUInt16LE(32, 12); // bits a pixel
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}
