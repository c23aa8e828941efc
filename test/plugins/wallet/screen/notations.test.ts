import { expect } from "chai";
import wallet from "../../../../plugins/wallet/index.ts";
import { createWorldClock } from "../../../support/world/clock.ts";
import { openGoPlus } from "../../../support/world/goplus.ts";
import type { WorldSource } from "../../../support/world/source.ts";
import { createHost, type Serve, serve } from "../../host.ts";
import { toSdnDocument } from "./sdn-document.ts";
import { openSdnServer, type SdnServer, sends } from "./sdn-server.ts";

/** On the built-in list. */
const DIGITS = "098B716B8Aaf21512996dC57EB0615e2383E2f96";
const RONIN = `0x${DIGITS}`;
const toFullWidth = (text: string): string =>
  text.replace(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));

/** Notations of the listed address, and the chain that GoPlus is asked about. */
const NOTATIONS: readonly (readonly [notation: string, chainId: string])[] = [
  [DIGITS, "1"],
  [`0X${DIGITS}`, "1"],
  [`x${DIGITS}`, "1"],
  [`\\x${DIGITS}`, "1"],
  [`0x${"0".repeat(24)}${DIGITS}`, "1"],
  [`"${RONIN}"`, "1"],
  [`<${RONIN}>`, "1"],
  [`${RONIN},`, "1"],
  [`\t${RONIN}\n`, "1"],
  [`0x${DIGITS.slice(0, 20)} ${DIGITS.slice(20)}`, "1"],
  [`\u200b${RONIN.slice(0, 9)}\u00ad${RONIN.slice(9)}\ufeff`, "1"],
  [toFullWidth(RONIN), "1"],
  [`eip155:8453:${RONIN}`, "8453"],
  [`EIP155:137:${RONIN}`, "137"],
  [`did:pkh:eip155:10:${RONIN}`, "10"],
  [`base:${RONIN}`, "8453"],
  [`arb1:${RONIN}`, "42161"],
  [`${RONIN}@polygon`, "137"],
  [`ethereum:${RONIN}`, "1"],
  [`ethereum:pay-${RONIN}@8453/transfer?value=1`, "8453"],
  [`https://etherscan.io/address/${RONIN}#tokentxns`, "1"],
  [`wallet ${RONIN} (Ronin)`, "1"],
];

describe("a sanctioned address in another notation", () => {
  let goplus: WorldSource;
  let screen: Serve;
  beforeEach(async () => {
    goplus = await openGoPlus({ clock: createWorldClock() });
    screen = await serve("screen", wallet, createHost({}, { urls: { goplus: goplus.url } }));
  });
  afterEach(() => goplus.close());

  for (const [notation, chainId] of NOTATIONS)
    it(`is found as ${JSON.stringify(notation)}, and GoPlus is asked about it on eip155:${chainId}`, async () => {
      expect(await screen({ wallet: notation })).to.include({
        wallet: notation,
        chain_inferred: "ethereum",
        sanctions_match: true,
        recommendation: "block",
      });
      const [asked] = goplus.asked;
      expect(asked?.name).to.equal(`/address_security/${RONIN.toLowerCase()}`);
      expect(asked?.query.get("chain_id")).to.equal(chainId);
    });

  it("is a match among several addresses, of which none is asked about", async () => {
    const other = `0x${"1".repeat(40)}`;
    for (const text of [`${RONIN} ${other}`, `https://basescan.org/token/${other}?a=${RONIN}`]) {
      const answer = await screen({ wallet: text });
      expect(answer, text).to.include({ chain_inferred: "unknown", sanctions_match: true, recommendation: "block" });
      expect(answer.notes, text).to.match(
        /^Sanctioned: .* names an address in it as LAZARUS GROUP's\. .* It holds several addresses/,
      );
    }
    const harmless = await screen({ wallet: `${other} 0x${"2".repeat(40)}` });
    expect(harmless).to.include({ sanctions_match: false, recommendation: "review", partial: true });
    expect(harmless.notes).to.match(/It holds several addresses: screen each of them\.$/);
    expect(goplus.asked).to.deep.equal([]);
  });

  it("is not taken out of a name or out of longer digits", async () => {
    for (const text of [`${RONIN}.eth`, `${RONIN}0`, RONIN.slice(0, -1)]) {
      const answer = await screen({ wallet: text });
      expect(answer, text).to.include({ chain_inferred: "unknown", recommendation: "review" });
    }
    expect(goplus.asked).to.deep.equal([]);
  });

  it("is a Solana key in a payment link, and in a web address", async () => {
    const key = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
    for (const text of [`solana:${key}?amount=1`, `https://solscan.io/account/${key}`])
      expect((await screen({ wallet: text })).chain_inferred, text).to.equal("solana");
  });

  it("is not looked for in a name, which the notes say to resolve", async () => {
    expect((await screen({ wallet: "vitalik.eth" })).notes).to.match(/resolve it/);
  });
});

/** Listed addresses of other chains, each in notations in which it is copied. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  "XBT 12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h": [
    "https://mempool.space/address/12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h",
    "btc: 12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h",
    "12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h (BTC)",
  ],
  "XBT bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq": [
    "bitcoin:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq?amount=0.1",
    "BITCOIN:BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ",
  ],
  "LTC ltc1q73ka9zj5n8vwlmct37uwu8kpckj7gp7f46u8mc": ["LTC: LTC1Q73KA9ZJ5N8VWLMCT37UWU8KPCKJ7GP7F46U8MC"],
  "TRX TGQVLckg1gDZS5wUwPTrPgRG4U8MKC4jcP": ["https://tronscan.org/#/address/TGQVLckg1gDZS5wUwPTrPgRG4U8MKC4jcP"],
  "SOL 4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T": ["SOL 4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"],
};

describe("a sanctioned address of another chain, within a text", () => {
  let list: SdnServer;
  let goplus: WorldSource;
  let screen: Serve;
  before(async () => {
    list = await openSdnServer();
    const addresses = Object.keys(ELSEWHERE).map((written) => written.split(" ") as [string, string]);
    list.answer = sends(toSdnDocument("09/10/2026", [{ uid: 7, lastName: "SOMEBODY", addresses }]));
    goplus = await openGoPlus({ clock: createWorldClock() });
    const host = createHost({}, { urls: { goplus: goplus.url, ofac: list.url } });
    screen = await serve("screen", wallet, host);
    await host.tasks.get("ofac")!(AbortSignal.timeout(10_000));
  });
  after(() => Promise.all([list.close(), goplus.close()]));

  for (const text of Object.values(ELSEWHERE).flat())
    it(`is found in ${JSON.stringify(text)}`, async () => {
      const answer = await screen({ wallet: text });
      expect(answer).to.include({ wallet: text, sanctions_match: true, recommendation: "block" });
      expect(answer.notes).to.match(/^Sanctioned: .* names an address in it as SOMEBODY's\./);
    });

  it("is found in capitals, as QR codes have it, though it has the form of a Solana key", async () => {
    const answer = await screen({ wallet: "LTC1Q73KA9ZJ5N8VWLMCT37UWU8KPCKJ7GP7F46U8MC" });
    expect(answer).to.include({ chain_inferred: "unknown", sanctions_match: true, recommendation: "block" });
  });

  it("is a match beside an EVM address that nothing is known against", async () => {
    const evm = `0x${"1".repeat(40)}`;
    const among = { chain_inferred: "unknown", partial: true };
    for (const listed of ["12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h", "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"])
      expect(await screen({ wallet: `${evm} ${listed}` })).to.include({ ...among, recommendation: "block" });
    const other = "HKKp49qGWXd639QsuH7JiLijfVW5UtCVY4s1n2HANwEA";
    expect(await screen({ wallet: `${evm} ${other}` })).to.include({ ...among, recommendation: "review" });
  });

  it("is not found where it is a part of a name or of a longer word", async () => {
    for (const text of [
      "https://x.test/12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h.eth",
      "https://x.test/A12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h",
    ])
      expect(await screen({ wallet: text }), text).to.include({ sanctions_match: false, recommendation: "review" });
  });
});
