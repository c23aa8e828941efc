import { expect } from "chai";
import type { Page } from "playwright-core";
import { withBrowser } from "../../../support/programs.ts";
import type { SandboxServer } from "../../../support/sellers/sandbox-server.ts";
import { sharedSandboxServer } from "../../../support/sellers/shared-sandbox-server.ts";
import { DESKTOP, openVisits, type Prepare } from "./support/browser.ts";
import { findFaint } from "./support/contrast.ts";

const STATUS = "**/v1/ledger/report/*";
const RUNNING = {
  status: "IN_PROGRESS",
  deliverable: null,
  eta_seconds: 42,
  step: "reading blocks",
  error: null,
  refund_tx: null,
  refund_pending: null,
};
const FAILED = { ...RUNNING, status: "FAILED", eta_seconds: null, step: null, error: "the node is gone" };
const TRANSACTION = `0x${"7".repeat(64)}`;
const RECEIPT = { success: true, transaction: `0x${"8".repeat(64)}`, network: "eip155:8453" };
const PAID = { "payment-response": Buffer.from(JSON.stringify(RECEIPT)).toString("base64") };

const withClock: Prepare = (page) => page.clock.install();
const asIn2023: Prepare = async (page) => void (await page.addInitScript("delete URL.parse"));

/** A body of a status, a page in place of one, or a status code of an answer without any. */
type Answer = object | string | number;

withBrowser.describe("a job that was bought in the explorer", () => {
  const visit = openVisits();
  let server: SandboxServer;
  let page: Page;

  before(async () => {
    server = await sharedSandboxServer();
  });
  beforeEach(async () => {
    page = await visit(`${server.url}/docs/ledger_report`, DESKTOP, withClock);
  });

  const job = () => page.locator("#ledger_report .try > section");
  const progress = () => job().getByRole("status");

  async function buy(): Promise<void> {
    await page.locator("#ledger_report button[type=submit]").click();
    await page.locator("#ledger_report").getByRole("button", { name: "Pay with play money" }).click();
    await job().waitFor();
  }

  /** The same with a seller's answer to the payment that no seller gave: there is no job, and nothing is settled. */
  async function take(
    status_url = `${server.url}/v1/ledger/report/1`,
    headers: Readonly<Record<string, string>> = PAID,
  ): Promise<void> {
    const json = { job_id: "1", status: "accepted", status_url, eta_seconds: 120 };
    await page.route("**/v1/ledger/report", (route) =>
      "payment-signature" in route.request().headers() ? route.fulfill({ headers, json }) : route.continue(),
    );
    await buy();
  }

  /** Answers the page's questions in the seller's place, one after the other and then with the last; counts them. */
  async function script(...answers: readonly Answer[]): Promise<() => number> {
    let asked = 0;
    await page.route(STATUS, (route) => {
      const answer = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      if (typeof answer === "string") return route.fulfill({ contentType: "text/html", body: answer });
      return typeof answer === "number" ? route.fulfill({ status: answer }) : route.fulfill({ json: answer });
    });
    return () => asked;
  }

  it("is followed to what it delivers, with links to the seller's own addresses alone", async () => {
    await buy();
    const said = await page.locator("#ledger_report .status").innerText();
    expect(said).to.equal("The job is paid. How it stands is shown below.");
    await job().getByText("Delivered.").waitFor();
    expect(await progress().innerText()).to.equal("Delivered.");
    expect(await job().locator("dt").allInnerTexts()).to.deep.equal(["Status"]);
    const statusUrl = (await job().locator(".receipt a").getAttribute("href")) ?? "";
    const { deliverable } = (await (await fetch(statusUrl)).json()) as { deliverable: Record<string, unknown> };
    expect(JSON.parse(await job().locator("pre").innerText())).to.deep.equal(deliverable);
    const links = await job().locator("pre a").all();
    const addresses = await Promise.all(links.map((link) => link.getAttribute("href")));
    const { report_markdown_url, report_csv_url, report_html_url } = deliverable;
    expect(addresses).to.include.members([report_markdown_url, report_csv_url, report_html_url]);
    for (const address of addresses) expect((await fetch(address ?? "")).status, address ?? "").to.equal(200);
    const files = await job().locator(".files a").allInnerTexts();
    expect(files).to.have.members(["report.md", "report.html", "transfers.csv"]);
    expect(await findFaint(page)).to.deep.equal([]);
  });

  it("is shown in browsers of 2023, which wallets on phones have in them", async () => {
    page = await visit(`${server.url}/docs/ledger_report`, DESKTOP, asIn2023);
    await page.locator("#ledger_report button[type=submit]").click();
    await page.locator("#ledger_report").getByRole("button", { name: "Pay with play money" }).click();
    const status = page.locator("#ledger_report .status", { hasText: /^(?:The job is paid|This page cannot go on)/ });
    await status.waitFor();
    expect(await status.innerText()).to.match(/^The job is paid/);
    await job().getByText("Delivered.").waitFor();
    expect(await job().locator(".files a").count()).to.be.above(0);
  });

  it("tells its step and the time that is left, and is asked for every two seconds until it ends", async () => {
    const asked = await script(RUNNING, 503, { ...RUNNING, step: "drawing", eta_seconds: 0 }, FAILED);
    await take();
    await job().getByText("It is being worked on: reading blocks").waitFor();
    expect(await job().locator(".receipt").innerText()).to.include("about 42 s");
    await page.clock.runFor(2000);
    await job().getByText("The answer was 503 Service Unavailable: asking again.").waitFor();
    await page.clock.runFor(2000);
    await job().getByText("It is being worked on: drawing").waitFor();
    expect(await job().locator(".receipt").innerText()).to.include("any moment now");
    await page.clock.runFor(2000);
    await job().getByText("The job has failed: the node is gone").waitFor();
    await page.clock.runFor(10_000);
    expect(asked()).to.equal(4);
  });

  it("stays on the page when the form is used again", async () => {
    await script(RUNNING);
    await take();
    await page.locator("#ledger_report button[type=submit]").click();
    await page.locator("#ledger_report .offers").waitFor();
    expect(await progress().innerText()).to.equal("It is being worked on: reading blocks");
  });

  it("is found again when the page is loaded again, with the payment that bought it", async () => {
    await script(RUNNING);
    const payments: (string | undefined)[] = [];
    page.on("request", (request) => payments.push(request.headers()["payment-signature"]));
    await buy();
    const title = await job().getByRole("heading").innerText();
    await page.reload();
    await page.getByText("You have paid on this page before.").waitFor();
    await page.getByRole("button", { name: "Ask again with the same payment" }).click();
    await job().getByText("It is being worked on: reading blocks").waitFor();
    expect(await job().getByRole("heading").innerText()).to.equal(title);
    const [first, ...others] = payments.filter((payment) => payment !== undefined);
    expect(others).to.deep.equal([first]);
  });

  it("is not said to be paid back later by a shop that has said that it is not", async () => {
    await script(FAILED);
    await page.evaluate(`document.querySelector(".amounts").insertAdjacentHTML("beforeend", '<b class="kept"></b>')`);
    await take();
    await job().getByText("none: the price of a job that fails is not paid back here").waitFor();
  });

  for (const [outcome, answer, said] of [
    ["was paid back", { ...FAILED, refund_tx: TRANSACTION }, TRANSACTION],
    ["is paid back by hand", { ...FAILED, refund_pending: "manual" }, "by hand (refund_pending: manual)"],
    ["is not known to be paid back", FAILED, "none is known of yet"],
    [
      "is not known of",
      { ...FAILED, status: "UNKNOWN", error: "job_not_found" },
      "cannot say how the job stands: job_not_found",
    ],
  ] as const)
    it(`says so when it has failed and ${outcome}`, async () => {
      const asked = await script(answer);
      await take();
      await job().getByText(said).waitFor();
      await page.clock.runFor(10_000);
      expect(asked()).to.equal(1);
      expect(await job().locator("dt").allInnerTexts()).to.deep.equal(["Status", "Refund"]);
      expect(await findFaint(page)).to.deep.equal([]);
    });

  it("is not said to be free when it was paid and a gateway has taken the receipt away", async () => {
    for (const [answer, said] of [
      [FAILED, "none is known of yet"],
      [{ ...FAILED, refund_tx: TRANSACTION }, TRANSACTION],
    ] as const) {
      await page.unrouteAll();
      await page.reload();
      await script(answer);
      await take(undefined, {});
      await job().getByText("The job has failed").waitFor();
      expect(await job().locator("dd").last().innerText()).to.include(said);
    }
  });

  it("is asked for again after a gateway's page in place of its status", async () => {
    await script("<h1>Sign in to this network</h1>", RUNNING);
    await take();
    await progress()
      .getByText(/again|undefined/)
      .waitFor();
    expect(await progress().innerText()).to.equal("The answer was 200 OK: asking again.");
    await page.clock.runFor(2000);
    await job().getByText("It is being worked on: reading blocks").waitFor();
  });

  it("is not followed to another address than the page's", async () => {
    const elsewhere = "https://elsewhere.example/v1/jobs/1";
    await take(elsewhere);
    await job().getByText("This page may not ask at another address than its own.").waitFor();
    expect(await job().innerText()).to.include(elsewhere);
    expect(await page.locator(`#ledger_report a[href^="${elsewhere}"]`).count()).to.equal(0);
  });
});
