import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { ATTACKS } from "./attacks.ts";
import { runOwn } from "./both.ts";
import { send, sign } from "./buyer.ts";
import { startScriptedFacilitator } from "./facilitator.ts";
import { createLedger } from "./money.ts";
import { type BatterySeller, startStock } from "./sellers.ts";
import { toTable } from "./table.ts";

const PAGE = join(import.meta.dirname, "../../runtime/docs/battery.md");

describe("the hostile battery", function () {
  this.timeout(300_000);

  it("breaks nothing of payphone, and the page says so", async () => {
    const columns = await runOwn(["payphone"]);
    expect(columns[0]?.findings.map(({ verdict }) => verdict)).to.deep.equal(ATTACKS.map(() => "held"));
    const rows = readFileSync(PAGE, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .map((line) => line.split(" | ").slice(0, 2).join(" | "));
    const found = toTable(columns)
      .split("\n")
      .slice(2)
      .map((line) => line.replace(/ \|$/, ""));
    expect(rows, 'is not current: run "npm run battery -- --write"').to.include.members(found);
  });

  describe("with its imaginary ledger", () => {
    const account = privateKeyToAccount(generatePrivateKey());
    let ledger: ReturnType<typeof createLedger>;
    let facilitator: Awaited<ReturnType<typeof startScriptedFacilitator>>;
    let seller: BatterySeller;
    beforeEach(async () => {
      ledger = createLedger();
      facilitator = await startScriptedFacilitator(ledger);
      seller = await startStock(facilitator.url, "0x2222222222222222222222222222222222222222");
    });
    afterEach(async () => {
      await seller.stop();
      await facilitator.stop();
    });
    const toCall = () => ({ method: "POST", url: `${seller.url}/v1/coin`, body: {} });

    it("moves the money of a payment once", async () => {
      const payment = await sign(account, toCall());
      expect((await send(toCall(), payment)).status).to.equal(200);
      expect((await send(toCall(), payment)).status).to.equal(402);
      expect(facilitator.transfersOf(payment.nonce)).to.equal(1);
    });

    it("refuses a payment that was changed or cancelled", async () => {
      const payment = await sign(account, toCall());
      const json = JSON.parse(Buffer.from(payment.header, "base64").toString()) as { payload: { signature: string } };
      json.payload.signature = json.payload.signature.replace(/.{4}$/, "00ff");
      const forged = { ...payment, header: Buffer.from(JSON.stringify(json)).toString("base64") };
      expect((await send(toCall(), forged)).status).to.equal(402);
      facilitator.script(payment.nonce, { onVerify: ledger.cancel });
      expect((await send(toCall(), payment)).status).to.equal(402);
      expect(facilitator.transfersOf(payment.nonce)).to.equal(0);
    });
  });
});
