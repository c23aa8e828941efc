/** One entry of a made-up SDN list; the addresses as `[ticker, address]`. */
export interface Entry {
  readonly uid: number;
  readonly firstName?: string;
  readonly lastName: string;
  readonly programs?: readonly string[];
  readonly addresses?: readonly (readonly [ticker: string, address: string])[];
}

const HEAD =
  '<?xml version="1.0" standalone="yes"?>\n<sdnList xmlns="https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/XML">';

/** SDN.XML in OFAC's layout. @param published as OFAC writes it, `MM/DD/YYYY`. */
export const toSdnDocument = (published: string, entries: readonly Entry[]): string =>
  `${HEAD}${toHead(published, entries.length)}${entries.map(toEntry).join("")}\n</sdnList>\n`;

/** The same, piece by piece: a document of `count` entries of about 1 kB, every twentieth with an EVM address of its own. */
export async function* streamSdnDocument(count: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(HEAD + toHead("09/10/2026", count));
  for (let uid = 1; uid <= count; uid += 50) {
    const length = Math.min(50, count - uid + 1);
    yield Buffer.from(Array.from({ length }, (_, at) => toEntry(toNumbered(uid + at))).join(""));
  }
  yield Buffer.from("</sdnList>");
}

export const toNumberedAddress = (uid: number): string => `0x${uid.toString(16).padStart(40, "0")}`;

const toNumbered = (uid: number): Entry => ({
  uid,
  firstName: "Ivan",
  lastName: `PERSON ${uid}`,
  programs: ["CYBER2", "RUSSIA-EO14024"],
  addresses: uid % 20 === 0 ? [["ETH", toNumberedAddress(uid)]] : [],
});

const toHead = (published: string, count: number): string =>
  `\n<publshInformation><Publish_Date>${published}</Publish_Date><Record_Count>${count}</Record_Count></publshInformation>`;

function toEntry({ uid, firstName, lastName, programs = ["CYBER2"], addresses = [] }: Entry): string {
  const ids = addresses.map(([ticker, address], at) =>
    toId(uid * 100 + at, `Digital Currency Address - ${ticker}`, address),
  );
  return `
  <sdnEntry>
    <uid>${uid}</uid>${firstName === undefined ? "" : `\n    <firstName>${firstName}</firstName>`}
    <lastName>${lastName}</lastName>
    <sdnType>Individual</sdnType>
    <remarks>(Linked To: SOMEBODY ELSE)</remarks>
    <programList>${programs.map((program) => `\n      <program>${program}</program>`).join("")}
    </programList>
    <idList>${toId(uid * 100 + 98, "Gender", "Male")}${ids.join("")}${toId(uid * 100 + 99, "Passport", `AB${uid}`)}
    </idList>
    <akaList>
      <aka>
        <uid>${uid * 100 + 97}</uid>
        <type>a.k.a.</type>
        <category>strong</category>
        <lastName>ANOTHER NAME</lastName>
        <firstName>Vanya</firstName>
      </aka>
    </akaList>
    <addressList>
      <address>
        <uid>${uid * 100 + 96}</uid>
        <address1>Some street 1</address1>
        <city>Moscow</city>
        <country>Russia</country>
      </address>
    </addressList>
  </sdnEntry>`;
}

const toId = (uid: number, type: string, number: string): string => `
      <id>
        <uid>${uid}</uid>
        <idType>${type}</idType>
        <idNumber>${number}</idNumber>
      </id>`;
