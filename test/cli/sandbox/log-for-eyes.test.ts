import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createEyesLog } from "../../../runtime/cli/sandbox/log-for-eyes.ts";
import { createLog } from "../../../runtime/drivers/log.ts";

describe("the sandbox's log for people", () => {
  it("says where a plugin has thrown an error by accident, and not where a Problem is from", () => {
    const printed: string[] = [];
    const destination = createEyesLog({ rails: [], hasColours: false, print: (line) => printed.push(line.slice(10)) });
    const log = createLog({ destination });
    const thrownIn = (frame: string, error: Error) =>
      Object.assign(error, { stack: `${error}\n    at run (${frame})` });
    const plugin = "file:///home/ada/shop/plugins/toss/index.ts?v=0a1b2c3d:7:11";
    const installed = "file:///home/ada/plugins/shop/node_modules/payphone/dist/runtime/core/perform.js:66:1";
    for (const error of [
      thrownIn(plugin, new TypeError("sides is undefined", { cause: new Error("no coins") })),
      thrownIn(plugin, new Problem("unavailable", "The mint is closed")),
      thrownIn(installed, new Error("the output breaks its schema")),
    ])
      log.error("http.failed", { error });
    expect(printed).to.deep.equal([
      "http.failed              error=sides is undefined (no coins) (plugins/toss/index.ts:7)",
      "http.failed              error=The mint is closed",
      "http.failed              error=the output breaks its schema",
    ]);
  });

  it("prints nothing of a caller's or a source's text that a terminal would obey", () => {
    const printed: string[] = [];
    const log = createLog({
      destination: createEyesLog({ rails: [], hasColours: false, print: (at) => printed.push(at) }),
    });
    log.info("http.request", { method: "GET", path: "/\u009b2J", status: 404, ms: 1 });
    log.warn("source.failed", { error: new Problem("upstream-failed", "gone\u001b[2J\nhttp.request") });
    expect(printed.map((line) => line.slice(10).replaceAll(/ +/g, " "))).to.deep.equal([
      "GET / 2J 404 1 ms",
      "source.failed error=gone [2J http.request",
    ]);
  });

  it("tells what was paid, in which of a network's tokens, and whether an earlier call has paid it", () => {
    const printed: string[] = [];
    const [network, usdc, eurc] = ["eip155:8453", "0x83AB", "0x60CD"];
    const rails = [
      { id: "base", network, asset: usdc, decimals: 6, symbol: "USDC" },
      { id: "eurc", network, asset: eurc, decimals: 2, symbol: "EURC" },
    ];
    const print = (line: string) => printed.push(line.slice(60).trim());
    const log = createLog({ destination: createEyesLog({ rails, hasColours: false, print }) });
    const call = { method: "POST", path: "/v1/roll", service: "roll", status: 200, network, amount: "1000", ms: 47 };
    log.info("http.request", { ...call, asset: usdc });
    log.info("http.request", { ...call, asset: usdc, replay: true });
    log.info("http.request", { ...call, asset: "0x60cd" });
    log.info("http.request", call);
    expect(printed).to.deep.equal([
      "200  0.001 USDC base  47 ms",
      "200  0.001 USDC base (paid before)  47 ms",
      "200  10 EURC eurc  47 ms",
      "200  1000 units on eip155:8453  47 ms",
    ]);
  });
});
