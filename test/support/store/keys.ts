import { expect } from "chai";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { eventually } from "../eventually.ts";
import { listKeys } from "./probes.ts";

/** Tests how a store lists its keys. @param clients two clients of one store */
export function testKeys(clients: () => readonly [OpenStore, OpenStore]): void {
  it("lists the keys that begin with a prefix, whatever they are made of", async () => {
    const [store] = clients();
    const odd = [
      "p:%",
      "p:_",
      "p:*",
      "p:?",
      "p:[a]",
      "p:\\",
      "p:é",
      "p:\u{1f600}",
      "p:",
      "p::",
      "p:a b\n",
      "p:\u{10ffff}x",
    ];
    const others = ["p", "pp:a", "q:p:", "P:a", "p;"];
    await Promise.all([...odd, ...others].map((key) => store.set(key, 1)));
    await store.set("p:expired", 1, 1);
    await eventually(async () => (await store.get("p:expired")) === undefined);
    expect(await listKeys(store, "p:")).to.deep.equal(odd.sort());
    for (const key of odd) expect(await listKeys(store, key)).to.deep.equal(odd.filter((each) => each.startsWith(key)));
    expect(await listKeys(store, "nothing")).to.deep.equal([]);
    expect(await listKeys(store, "")).to.include.members([...odd, ...others]);
  });

  it("lists more keys than it reads at once, while they change", async () => {
    const [store, other] = clients();
    const names = Array.from({ length: 1200 }, (_, at) => `many:${at}`);
    await Promise.all(names.map((key) => store.set(key, 1)));
    const found: string[] = [];
    for await (const key of store.keys("many:")) {
      if (found.push(key) % 10 === 0) await Promise.all([other.delete(key), other.set(`more:${key}`, 1)]);
    }
    expect(found.sort()).to.deep.equal(names.sort());
    expect(await listKeys(store, "many:")).to.have.length(1080);
  });
}
