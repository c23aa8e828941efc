/** Abbreviations with one meaning, and their offsets. */
export const OFFSETS: Readonly<Record<string, string>> = {
  z: "Z",
  ut: "Z",
  utc: "Z",
  gmt: "Z",
  zulu: "Z",
  wet: "+00:00",
  west: "+01:00",
  est: "-05:00",
  edt: "-04:00",
  cdt: "-05:00",
  mst: "-07:00",
  mdt: "-06:00",
  pst: "-08:00",
  pdt: "-07:00",
  akst: "-09:00",
  akdt: "-08:00",
  hst: "-10:00",
  nst: "-03:30",
  ndt: "-02:30",
  brt: "-03:00",
  cet: "+01:00",
  cest: "+02:00",
  eet: "+02:00",
  eest: "+03:00",
  sast: "+02:00",
  msk: "+03:00",
  pkt: "+05:00",
  npt: "+05:45",
  wib: "+07:00",
  sgt: "+08:00",
  hkt: "+08:00",
  awst: "+08:00",
  jst: "+09:00",
  kst: "+09:00",
  acst: "+09:30",
  aest: "+10:00",
  aedt: "+11:00",
  nzst: "+12:00",
  nzdt: "+13:00",
};

/** Abbreviations with several meanings, and the one that is assumed. */
export const AMBIGUOUS: Readonly<Record<string, { readonly offset: string; readonly name: string }>> = {
  cst: { offset: "-06:00", name: "Central Standard Time (America)" },
  bst: { offset: "+01:00", name: "British Summer Time" },
  ist: { offset: "+05:30", name: "India Standard Time" },
  ast: { offset: "-04:00", name: "Atlantic Standard Time" },
};

/** An offset as `toInstant` takes it, with the assumption behind it if there is one. */
export interface AbbreviatedOffset {
  readonly offset: string;
  readonly assumption?: string;
}

/** The offset of an abbreviation or of a numeric offset; undefined for any other text. */
export function offsetOf(text: string): AbbreviatedOffset | undefined {
  if (/^[+-]\d\d:?\d\d$/.test(text)) return { offset: text };
  const name = text.toLowerCase();
  const offset = OFFSETS[name];
  if (offset !== undefined) return { offset };
  const guess = AMBIGUOUS[name];
  return guess && { offset: guess.offset, assumption: `${name.toUpperCase()} is taken as ${guess.name}` };
}
