import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { request } from "undici";
import { openDoor, toService } from "../../support/http.ts";

const SERVICES = [toService({ id: "verify", route: "POST /v1/verify" })];
const JSON_TYPE = "application/json";
const collectGarbage = (): void => {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
};

describe("a body", () => {
  it("never brings the server down or up to a 5xx, however malformed, and leaves its memory flat", async () => {
    const flooded = await openDoor(SERVICES);
    const pieces = [
      "{",
      "}",
      "[",
      "]",
      '"',
      "\\",
      ":",
      ",",
      "1",
      "e",
      "-",
      "true",
      "\u0000",
      "é",
      "\\u",
      " ",
      "__proto__",
    ];
    const headers = { "content-type": JSON_TYPE };
    collectGarbage();
    const kept = process.memoryUsage().heapUsed;
    let state = 1;
    const random = (below: number): number => {
      state = (state * 48271) % 2147483647;
      return state % below;
    };
    for (let round = 0; round < 100; round++) {
      const bodies = Array.from({ length: 100 }, () =>
        Array.from({ length: 1 + random(40) }, () => pieces[random(pieces.length)]).join(""),
      );
      const statuses = await Promise.all(
        bodies.map(async (body) => {
          const answer = await request(`${flooded.url}/v1/verify`, { method: "POST", body, headers });
          await answer.body.dump();
          return answer.statusCode;
        }),
      );
      expect(statuses.filter((status) => status !== 200 && status !== 422)).to.deep.equal([]);
      for (const kept of [flooded.calls, flooded.lines]) kept.splice(0);
    }
    collectGarbage();
    expect(process.memoryUsage().heapUsed - kept).to.be.below(50_000_000);
    await flooded.close({ graceMs: 0 });
  });
});
