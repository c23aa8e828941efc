import { appendFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createDailyBudget, defaultSpendingDir } from "../../../runtime/cli/mcp-proxy/budget.ts";
import { createFolder } from "../../support/folder.ts";

const CENT = 10n ** 16n;
const MIDNIGHT = Date.UTC(2026, 0, 2);

describe("the budget of a paying proxy", () => {
  let place: string;
  let now: number;
  const open = (perCall = "0.05", perDay = "0.10") => createDailyBudget(place, { perCall, perDay }, () => now);
  const told = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "spent",
      (error: Error) => error.message,
    );
  beforeEach(() => {
    place = createFolder();
    now = MIDNIGHT - 1000;
  });

  it("is noted for nobody else to read", async () => {
    await open().spend(CENT, "a");
    const [file = ""] = await readdir(place);
    expect((await stat(join(place, file))).mode & 0o077).to.equal(0);
  });

  it("takes what fits a call and a day to the atom, and refuses one unit more with the way out", async () => {
    const { spend } = open();
    expect(await told(spend(5n * CENT + 1n, "a"))).to.match(
      /^this call costs 0\.05\d*1 USD, more than the 0\.05 that --max-usd-per-call/,
    );
    expect(await told(spend(5n * CENT, "a"))).to.equal("spent");
    expect(await told(spend(5n * CENT, "b"))).to.equal("spent");
    expect(await told(spend(1n, "c"))).to.match(/0\.1 of the 0\.10 that --max-usd-per-day allows are spent today/);
  });

  it("is not used up by what it has refused", async () => {
    const { spend } = open("1", "0.10");
    expect(await told(spend(50n * CENT, "a"))).to.match(/per-day/);
    expect(await told(spend(10n * CENT, "b"))).to.equal("spent");
  });

  it("is not used up by what could not be signed", async () => {
    const { spend } = open("1", "0.10");
    for (let turn = 0; turn < 3; turn += 1) await (await spend(10n * CENT, "a"))();
    expect(await told(spend(10n * CENT, "b"))).to.equal("spent");
  });

  it("is shared by proxies, also by those that spend at the same moment", async () => {
    const asked = Array.from({ length: 40 }, () => told(open().spend(CENT, "a")));
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer === "spent")).to.have.length(10);
    for (const answer of answers.filter((one) => one !== "spent"))
      expect(answer).to.include("; 0.1 of the 0.10 that --max-usd-per-day allows are spent today");
  });

  it("refuses nothing that fits for the sake of what does not fit at the same moment", async () => {
    const asked = Array.from({ length: 20 }, (_, at) =>
      told(open("1").spend(at === 10 ? 10n * CENT : 11n * CENT, "a")),
    );
    expect((await Promise.all(asked)).map((answer) => answer === "spent").indexOf(true)).to.equal(10);
  });

  it("begins anew with each day of UTC", async () => {
    await open().spend(5n * CENT, "a");
    await open().spend(5n * CENT, "b");
    now = MIDNIGHT;
    expect(await told(open().spend(5n * CENT, "c"))).to.equal("spent");
    expect(await readdir(place)).to.have.members(["2026-01-01.jsonl", "2026-01-02.jsonl"]);
  });

  it("spends nothing when the notes of the day cannot be read", async () => {
    await open().spend(CENT, "a");
    await appendFile(join(place, "2026-01-01.jsonl"), "{half a li\n");
    expect(await told(open().spend(CENT, "b"))).to.match(/cannot be read: what was spent today is not known/);
  });

  it("goes on after a full disk has cut off a note, whose payment was not made", async () => {
    await open().spend(CENT, "a");
    const file = join(place, "2026-01-01.jsonl");
    const [line = ""] = (await readFile(file, "utf8")).split("\n").filter(Boolean);
    for (const length of [1, 3, 40, line.length - 1]) {
      await appendFile(file, line.slice(0, length));
      expect(await told(open().spend(CENT, "b")), `${length} characters`).to.equal("spent");
    }
    expect(await told(open("1").spend(6n * CENT, "c"))).to.include("; 0.05 of the 0.10 that");
  });

  it("spends nothing when a payment cannot be noted, and says so", async () => {
    await writeFile(join(place, "file"), "");
    const budget = createDailyBudget(join(place, "file/spending"), { perCall: "1", perDay: "1" }, () => now);
    expect(await told(budget.spend(CENT, "a"))).to.match(
      /^The payments of the day cannot be noted in .*spending \(ENOTDIR\): .*--spending.* Nothing was paid\.$/,
    );
  });

  it("is noted in the user's own folder, also where HOME is empty", () => {
    const { HOME = userInfo().homedir } = process.env;
    process.env.HOME = "";
    expect(defaultSpendingDir({})).to.equal(join(userInfo().homedir, ".local/state/payphone/spending"));
    process.env.HOME = HOME;
  });
});
