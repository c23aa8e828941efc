import { SaxesParser } from "saxes";

/** A digital currency address, as OFAC prints it. */
export interface SdnAddress {
  /** OFAC's ticker for the asset: ETH, XBT, SOL, TRX … */
  readonly ticker: string;
  readonly address: string;
}

/** An entry of the Specially Designated Nationals list with at least one address. */
export interface SdnEntry {
  /** The entry's number in OFAC's search. */
  readonly uid: string;
  readonly name: string;
  readonly programs: readonly string[];
  readonly addresses: readonly SdnAddress[];
}

/** The part of the list that screening needs. */
export interface SdnList {
  /** The day of publication, `YYYY-MM-DD`. */
  readonly published: string;
  readonly entries: readonly SdnEntry[];
}

const ENTRY = "/sdnList/sdnEntry";
const ID = `${ENTRY}/idList/id`;
const PUBLISHED = "/sdnList/publshInformation/Publish_Date"; // OFAC's spelling.
const WANTED: ReadonlySet<string> = new Set([
  PUBLISHED,
  `${ENTRY}/uid`,
  `${ENTRY}/firstName`,
  `${ENTRY}/lastName`,
  `${ENTRY}/programList/program`,
  `${ID}/idType`,
  `${ID}/idNumber`,
]);
const CURRENCY = /^Digital Currency Address - (\S+)$/;
const US_DATE = /^(\d\d)\/(\d\d)\/(\d{4})$/;

/**
 * Parses OFAC's SDN.XML as a stream, with one entry in memory at a time.
 * @throws Error when the document is truncated, malformed or not an SDN list.
 */
export async function readSdn(body: AsyncIterable<Uint8Array>): Promise<SdnList> {
  const entries: SdnEntry[] = [];
  const addresses: SdnAddress[] = []; // Of the current entry.
  const { parser, take } = createTextParser((path) => {
    if (path === ID) addresses.push(...toAddresses(take(`${ID}/idType`), take(`${ID}/idNumber`)));
    if (path !== ENTRY) return;
    const [uid = ""] = take(`${ENTRY}/uid`);
    const name = [...take(`${ENTRY}/firstName`), ...take(`${ENTRY}/lastName`)].join(" ");
    const entry = { uid, name, programs: take(`${ENTRY}/programList/program`), addresses: addresses.splice(0) };
    // A copy, because the strings would keep the chunks in memory.
    if (entry.addresses.length > 0) entries.push(structuredClone(entry));
  });
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const bytes of body) parser.write(decoder.decode(bytes, { stream: true }));
  parser.write(decoder.decode()).close(); // Throws when the document is truncated.
  return { published: toIsoDate(take(PUBLISHED)), entries };
}

/** A parser that keeps the texts of wanted elements until `take` is called. @param onEnd called with the path of each closed element. */
function createTextParser(onEnd: (path: string) => void) {
  const texts = new Map<string, string[]>();
  const parser = new SaxesParser();
  let path = "";
  let text = "";
  const collect = (part: string): void => {
    text += part;
  };
  parser.on("opentag", ({ name }) => {
    path += `/${name}`;
    text = "";
  });
  parser.on("text", collect);
  parser.on("cdata", collect);
  parser.on("closetag", ({ name }) => {
    if (WANTED.has(path)) texts.set(path, [...(texts.get(path) ?? []), text.trim()]);
    onEnd(path);
    path = path.slice(0, -name.length - 1);
  });
  const take = (wanted: string): readonly string[] => {
    const found = texts.get(wanted) ?? [];
    texts.delete(wanted);
    return found;
  };
  return { parser, take };
}

function toAddresses([type = ""]: readonly string[], [address = ""]: readonly string[]): SdnAddress[] {
  const ticker = CURRENCY.exec(type)?.[1];
  return ticker && address !== "" ? [{ ticker, address }] : [];
}

function toIsoDate([text = ""]: readonly string[]): string {
  const [, month, day, year] = US_DATE.exec(text) ?? [];
  if (year === undefined) throw new Error("The document has no Publish_Date of the form MM/DD/YYYY");
  return `${year}-${month}-${day}`;
}
