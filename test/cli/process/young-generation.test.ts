import { execFileSync } from "node:child_process";
import { expect } from "chai";

const MODULE = new URL("../../../runtime/cli/process/young-generation.ts", import.meta.url).href;

/** Prints the size of the young generation in megabytes after some allocation: during a start, and after it. */
const PROGRAM = `
  import { getHeapSpaceStatistics } from "node:v8";
  import { startSmall } from ${JSON.stringify(MODULE)};
  const allocate = () => {
    const kept = [];
    for (let at = 0; at < 1e6; at += 1) kept[at % 1e5] = { at, list: [at] };
    return getHeapSpaceStatistics().find((space) => space.space_name === "new_space").space_size / 1e6;
  };
  const during = await startSmall(async () => allocate());
  await startSmall(async () => { throw new Error("it does not start"); }).catch(() => {});
  console.log(JSON.stringify([during, allocate()]));`;

describe("the young generation of a server's heap", () => {
  it("stays small until the server has started, and then grows with the load", () => {
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", PROGRAM], { encoding: "utf8" });
    const [during, after] = JSON.parse(printed) as [number, number];
    expect(during, "megabytes during the start").to.be.below(5);
    expect(after, "megabytes under load").to.be.above(2 * during);
  });
});
