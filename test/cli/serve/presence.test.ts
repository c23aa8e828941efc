import { expect } from "chai";
import { createPresenceBoard } from "../../../runtime/cli/serve/admin/presence.ts";
import { toDamaged } from "../../../runtime/core/damage.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

describe("the processes on a store", () => {
  it("are listed as they are now, also by one that cannot write any more", async () => {
    const clock = { now: () => 1_800_000_000_000 };
    const store = createMemoryStore(clock.now);
    let set = "one";
    const open = () =>
      createPresenceBoard({ store, clock, log: silentLog, describe: () => ({ version: "1", set, url: "u" }) });
    const [here, elsewhere] = [open(), open()];
    here.start();
    elsewhere.start();
    store.set = () => Promise.reject(new Error("the disk is full"));
    set = "two";
    expect((await here.list()).map((one) => one.set).sort()).to.deep.equal(["one", "two"]);
    await Promise.all([here.close(), elsewhere.close()]);
    expect((await open().list()).map((one) => one.set)).to.deep.equal(["two"]);
  });

  it("are listed beside a record that is damaged, and one of another version", async () => {
    const clock = { now: () => 1_800_000_000_000 };
    const store = createMemoryStore(clock.now);
    const open = (set: string) =>
      createPresenceBoard({ store, clock, log: silentLog, describe: () => ({ version: "1", set, url: "u" }) });
    const [here, elsewhere] = [open("one"), open("two")];
    elsewhere.start();
    await store.set("process:cut", 1);
    await store.set("process:other", { host: "h", pid: 1, set: "three" });
    const { get } = store;
    store.get = async (key) => {
      if (key === "process:cut") throw toDamaged(key, "Unexpected end of JSON input");
      return get(key);
    };
    expect((await here.list()).map((one) => one.set).sort()).to.deep.equal(["one", "two"]);
    await elsewhere.close();
  });
});
