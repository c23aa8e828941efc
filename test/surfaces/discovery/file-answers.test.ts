import { join } from "node:path";
import { expect } from "chai";
import { checkDiscovery } from "../../../runtime/cli/discovery/check.ts";
import { ROOT } from "../support/fixture-set.ts";

describe("payphone check --discovery, of a service that sells a file", () => {
  it("asks for no example of the file, which no document shows", async () => {
    expect(await checkDiscovery(join(ROOT, "runtime/docs/examples/pictures"))).to.deep.equal([]);
  });
});
