import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import type { Rail } from "../../../runtime/core/x402/rails.ts";
import { createHttpFacilitator } from "../../../runtime/drivers/facilitator/http.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { openShop } from "../../support/sellers/shop.ts";

/** A facilitator in a thread of its own, which answers while this one stands still. */
const FACILITATOR = `
const { createServer } = require("node:http");
const { parentPort } = require("node:worker_threads");
const settled = { success: true, transaction: "0x" + "a".repeat(64), network: "eip155:8453" };
const server = createServer((request, response) => {
  request.resume().once("end", () => setTimeout(() => response.end(JSON.stringify(settled)), 100));
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

/** The whole process does nothing, as in a long collection of garbage. */
const standStill = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe("a process that stands still while a payment is settled", () => {
  it("reads the answer that has arrived meanwhile before it calls the outcome unknown", async () => {
    const worker = new Worker(FACILITATOR, { eval: true });
    const [port] = (await once(worker, "message")) as [number];
    const facilitator = createHttpFacilitator({ url: `http://127.0.0.1:${port}` });
    const rail = createScriptedRail();
    rail.script.find = () => ({ state: "open" });
    const settle: Rail["facilitator"]["settle"] = (...terms) => {
      const answer = facilitator.settle(...terms);
      setTimeout(() => standStill(900), 50);
      return answer;
    };
    const shop = await openShop({
      rail: { ...rail, facilitator: { ...rail.facilitator, settle } },
      patience: { settleMs: 300 },
    });
    try {
      const sold = await shop.buy("/v1/roll", { low: 1, high: 6 });
      expect([sold.status, shop.receipt(sold).success]).to.deep.equal([200, true]);
    } finally {
      await shop.close();
      await facilitator.close();
      await worker.terminate();
    }
  });
});
