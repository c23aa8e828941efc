import { expect } from "chai";
import { createInFlight } from "../../../runtime/core/time/in-flight.ts";

describe("work in flight", () => {
  it("is waited for until the last of it has ended, whether well or not", async () => {
    const pieces = [1, 2].map(() => Promise.withResolvers<number>());
    const { run, ended } = createInFlight((at: number) => (pieces[at] as PromiseWithResolvers<number>).promise);
    await ended(60_000);
    const runs = [run(0), run(1).catch(String)];
    let isOver = false;
    const over = ended(60_000).then(() => {
      isOver = true;
    });
    pieces[1]?.reject(new Error("cut off"));
    expect(await runs[1]).to.equal("Error: cut off");
    expect(isOver).to.equal(false);
    pieces[0]?.resolve(7);
    expect(await runs[0]).to.equal(7);
    await over;
  });

  it("is waited for no longer than it may take", async () => {
    const { run, ended } = createInFlight(() => new Promise<void>(() => {}));
    void run();
    await ended(1);
  });
});
