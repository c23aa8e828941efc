import { request } from "node:http";
import { expect } from "chai";
import { findProcesses } from "../../../runtime/cli/operate/ask.ts";
import { operate } from "../../attacks/support/operate.ts";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { type Seller, startSeller } from "../../support/sellers/seller.ts";

const HUNG_MS = 30_000;

describe("a worker that dies before it has taken a connection", () => {
  const dataDir = createFolder();
  let seller: Seller;
  before(async () => {
    const [sandbox, dir] = await Promise.all([sharedSandbox(), makeDirectory(toShop([]))]);
    seller = await startSeller({ sandbox, dataDir, dir, args: ["--workers", "2"] });
  });
  after(() => seller?.stop());

  /** Asks on a connection of its own. @returns the status, or how the connection has ended */
  const ask = (): Promise<number | string | undefined> =>
    new Promise((resolve) => {
      const asked = request(`${seller.url}/health`, { agent: false, timeout: HUNG_MS }, (response) => {
        response.resume().once("end", () => resolve(response.statusCode));
      });
      asked.once("timeout", () => resolve("hung"));
      asked.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code));
      asked.end();
    });

  it("does not keep its caller waiting: the connection is closed", async () => {
    const [socket = ""] = await findProcesses(dataDir);
    const { pid } = await operate.status(socket);
    process.kill(pid, "SIGSTOP");
    const ends: unknown[] = [];
    const asked = Array.from({ length: 6 }, () => ask().then((end) => void ends.push(end)));
    await eventually(() => ends.length === 5); // One in turn is for the worker that stands still.
    process.kill(pid, "SIGKILL");
    await Promise.all(asked);
    expect(ends).to.deep.equal([200, 200, 200, 200, 200, "ECONNRESET"]);
  });
});
