/** Abbreviations with one meaning that are no words, and their offsets. */
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
  adt: "-03:00",
  clt: "-04:00",
  uyt: "-03:00",
  brt: "-03:00",
  cet: "+01:00",
  cest: "+02:00",
  eet: "+02:00",
  eest: "+03:00",
  sast: "+02:00",
  idt: "+03:00",
  trt: "+03:00",
  msk: "+03:00",
  pkt: "+05:00",
  npt: "+05:45",
  ict: "+07:00",
  wib: "+07:00",
  wita: "+08:00",
  myt: "+08:00",
  pht: "+08:00",
  sgt: "+08:00",
  hkt: "+08:00",
  awst: "+08:00",
  jst: "+09:00",
  kst: "+09:00",
  acst: "+09:30",
  acdt: "+10:30",
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
  gst: { offset: "+04:00", name: "Gulf Standard Time" },
};

/** Full names before "time", and their offsets. */
export const NAMED: Readonly<Record<string, string>> = {
  "coordinated universal": "+00:00",
  "greenwich mean": "+00:00",
  "newfoundland standard": "-03:30",
  "newfoundland daylight": "-02:30",
  "atlantic standard": "-04:00",
  "atlantic daylight": "-03:00",
  "eastern standard": "-05:00",
  "eastern daylight": "-04:00",
  "central standard": "-06:00",
  "central daylight": "-05:00",
  "mountain standard": "-07:00",
  "mountain daylight": "-06:00",
  "pacific standard": "-08:00",
  "pacific daylight": "-07:00",
  "alaska standard": "-09:00",
  "alaska daylight": "-08:00",
  "hawaii standard": "-10:00",
  "hawaii-aleutian standard": "-10:00",
  "argentina standard": "-03:00",
  "brasilia standard": "-03:00",
  "british summer": "+01:00",
  "irish standard": "+01:00",
  "western european": "+00:00",
  "western european standard": "+00:00",
  "western european summer": "+01:00",
  "central european": "+01:00",
  "central european standard": "+01:00",
  "central european summer": "+02:00",
  "eastern european": "+02:00",
  "eastern european standard": "+02:00",
  "eastern european summer": "+03:00",
  "south africa standard": "+02:00",
  "israel standard": "+02:00",
  "israel daylight": "+03:00",
  "arabian standard": "+03:00",
  "moscow standard": "+03:00",
  "gulf standard": "+04:00",
  "pakistan standard": "+05:00",
  "india standard": "+05:30",
  "indian standard": "+05:30",
  "china standard": "+08:00",
  "hong kong standard": "+08:00",
  "singapore standard": "+08:00",
  "philippine standard": "+08:00",
  "japan standard": "+09:00",
  "korea standard": "+09:00",
  "korean standard": "+09:00",
  "australian western standard": "+08:00",
  "australian central standard": "+09:30",
  "australian central daylight": "+10:30",
  "australian eastern standard": "+10:00",
  "australian eastern daylight": "+11:00",
  "new zealand standard": "+12:00",
  "new zealand daylight": "+13:00",
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
