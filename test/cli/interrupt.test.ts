import { expect } from "chai";
import { toInterruptListener } from "../../runtime/cli/interrupt.ts";

describe("an interrupt", () => {
  it("that comes twice at once is one, and each later one is another", () => {
    let now = 0;
    const heard: string[] = [];
    const interrupt = toInterruptListener({
      first: () => heard.push("first"),
      again: () => heard.push("again"),
      nowMs: () => now,
    });
    interrupt();
    now = 900;
    interrupt();
    expect(heard).to.deep.equal(["first"]);
    now = 1100;
    interrupt();
    interrupt();
    expect(heard).to.deep.equal(["first", "again", "again"]);
  });
});
