import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { withBrowser } from "../../../support/programs.ts";
import { openVisits } from "./support/browser.ts";
import { type Counter, sharedCounter } from "./support/counter.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const FILES = [
  { type: "image/png", bytes: PNG, shown: "A file of type image/png, of 16 bytes" },
  { type: "text/csv; charset=iso-8859-1", bytes: Buffer.from("Café;1\r\n", "latin1"), shown: "Café;1\n" },
  { type: "text/csv; charset=none-such", bytes: Buffer.from("a;1\n"), shown: /^A file of type text\/csv/ },
  {
    type: "application/geo+json",
    bytes: Buffer.from('{"x":12345678901234567890}'),
    shown: '{"x":12345678901234567890}',
  },
  { type: "application/x-ndjson", bytes: Buffer.from("1\n2\n"), shown: "1\n2\n" },
];

withBrowser.describe("the explorer of a service that sells files", () => {
  const visit = openVisits();
  let counter: Counter;

  before(async () => {
    counter = await sharedCounter(true);
  });

  it("lets each be saved as it was sent, whatever its type", async () => {
    const page = await visit(`${counter.url}/docs/attest_verify`);
    for (const { type, bytes, shown } of FILES) {
      await page.route("**/v1/attest/verify", (route) =>
        route.fulfill({ headers: { "content-type": type }, body: bytes }),
      );
      const answered = page.waitForResponse("**/v1/attest/verify");
      await page.getByRole("button", { name: "Call it" }).click();
      await answered;
      await page.getByText("Done.").waitFor();
      const saved = page.waitForEvent("download");
      await page.getByRole("link", { name: "Save the file" }).click();
      expect(await readFile(await (await saved).path()), type).to.deep.equal(bytes);
      const text = await page.locator(".answer pre").evaluate((box) => box.textContent);
      if (typeof shown === "string") expect(text?.replace("\r", "")).to.equal(shown);
      else expect(text).to.match(shown);
      await page.unrouteAll();
    }
  });
});
