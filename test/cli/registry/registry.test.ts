import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Command } from "commander";
import { Problem } from "../../../runtime/api/problem.ts";
import { addRegistryCommands } from "../../../runtime/cli/commands/registry.ts";
import { importRegistry, type Registry } from "../../../runtime/cli/registry/registry.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { openSource, type ScriptedSource } from "../../support/sources/scripted-source.ts";

const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const NOW = Date.UTC(2026, 10, 21, 23, 59);
const toAddress = (number: number): string => `0x${number.toString(16).toUpperCase().padStart(40, "0")}`;

/** A resource as the discovery endpoints of x402 list it. */
const resource = (url: string, payTo: string, terms: object = {}): object => ({
  resource: url,
  type: "http",
  x402Version: 2,
  lastUpdated: "2026-11-20T00:00:00.000Z",
  accepts: [{ scheme: "exact", network: "eip155:8453", asset: USDC, amount: "10000", payTo, ...terms }],
});

describe("payphone registry import", () => {
  let facilitator: ScriptedSource;
  let folder: string;
  before(async () => {
    facilitator = await openSource();
    folder = createFolder();
  });
  after(() => facilitator.close());

  const from = (...sources: string[]): Promise<Registry> => importRegistry(sources, NOW, new AbortController().signal);
  async function file(name: string, content: unknown): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }
  const servicesOf = async (items: readonly unknown[]): Promise<Registry["services"]> =>
    (await from(await file("items.json", { x402Version: 2, items }))).services;
  const complaintOf = async (work: Promise<unknown>): Promise<string> => {
    const failure = await work.catch((error: unknown) => error);
    return failure instanceof Problem ? failure.message : expect.fail(`no Problem: ${String(failure)}`);
  };

  it("reads every page of a facilitator's discovery endpoint", async () => {
    const items = Array.from({ length: 250 }, (_, at) => resource(`https://api${at}.example/x`, toAddress(at + 1)));
    facilitator.script((response, { path }) => {
      const query = new URL(path, facilitator.url).searchParams;
      const [limit, offset] = [Number(query.get("limit")), Number(query.get("offset"))];
      const pagination = { limit, offset, total: items.length };
      response.end(JSON.stringify({ x402Version: 2, items: items.slice(offset, offset + limit), pagination }));
    });
    const { services } = await from(`${facilitator.url}/platform/v2/x402`);
    expect(services).to.have.length(250);
    expect(facilitator.asked.map(({ path }) => path)).to.deep.equal(
      [0, 100, 200].map((offset) => `/platform/v2/x402/discovery/resources?limit=100&offset=${offset}`),
    );
  });

  it("names a service after the host of its resources, whatever it calls itself", async () => {
    const boast = { ...resource("https://api.example.com/a", toAddress(10)), serviceName: "The Bank" };
    expect(await servicesOf([boast, resource("https://api.example.com/b?c", toAddress(11))])).to.deep.equal([
      {
        id: "api.example.com",
        label: "api.example.com",
        category: "x402",
        recipients: [toAddress(10), toAddress(11)].map((address) => address.toLowerCase()),
      },
    ]);
  });

  it("names an address that several hosts are paid at after them, and as none of them", async () => {
    const [shared, own] = [toAddress(0xabc), toAddress(1)];
    const items = ["d", "b", "c", "a"].map((name) => resource(`https://${name}.example/`, shared));
    const services = await servicesOf([...items, resource("https://a.example/", own)]);
    expect(services).to.deep.equal([
      {
        id: shared.toLowerCase(),
        label: "a.example, b.example, c.example and 1 more",
        category: "x402",
        recipients: [shared.toLowerCase()],
      },
      { id: "a.example", label: "a.example", category: "x402", recipients: [own] },
    ]);
  });

  it("takes what version 1 lists, and leaves out other networks, other tokens and what is none", async () => {
    const good = { ...resource("https://v1.example/", toAddress(1), { network: "base" }) };
    const services = await servicesOf([
      good,
      resource("https://testnet.example/", toAddress(2), { network: "eip155:84532" }),
      resource("https://token.example/", toAddress(3), { asset: toAddress(9) }),
      resource("https://nobody.example/", "0x1"),
      resource("no address", toAddress(4)),
      resource(`https://${"a".repeat(250)}.example/`, toAddress(5)),
      null,
      7,
      "x",
      [],
      {},
      { resource: "https://x.example/" },
      { resource: "https://x.example/", accepts: [null] },
      { ...good, resource: { toString: 1 } },
      resource("https://x.example/", { toString: 1 } as never),
      resource("https://x.example/", toAddress(6), { asset: { toString: 1 } }),
    ]);
    expect(services.map(({ id }) => id)).to.deep.equal(["v1.example"]);
  });

  it("gives the same version for the same services, in whatever order they were listed", async () => {
    const items = [3, 1, 2].map((number) => resource(`https://s${number % 2}.example/`, toAddress(number)));
    const one = await from(await file("one.json", items));
    const other = await from(await file("other.json", items.toReversed()));
    expect(other).to.deep.equal(one);
    expect(one.version).to.match(/^2026-11-21-[0-9a-f]{12}$/);
    const more = await from(await file("more.json", [...items, resource("https://s4.example/", toAddress(4))]));
    expect(more.version).not.to.equal(one.version);
  });

  it("lets what a later source says of an address count", async () => {
    const items = [1, 2].map((number) => resource("https://api.example.com/", toAddress(number)));
    const stated = { source: "its own page", as_of: "2026-11-22" };
    const own = { id: "mine", label: "My own", category: "other_transfer", ...stated, recipients: [toAddress(2)] };
    const { services } = await from(
      await file("bazaar.json", items),
      await file("own.json", { version: "1", services: [own] }),
    );
    expect(services).to.deep.equal([
      { id: "api.example.com", label: "api.example.com", category: "x402", recipients: [toAddress(1)] },
      own,
    ]);
  });

  it("reads again what it has written, and its version stays", async () => {
    const first = await from(await file("items.json", [resource("https://a.example/", toAddress(1))]));
    expect(await from(await file("registry.json", first))).to.deep.equal(first);
    expect(await from(await file("marked.json", `\ufeff${JSON.stringify(first)}`))).to.deep.equal(first);
  });

  it("refuses files that are none, by name", async () => {
    const wrong: [name: string, content: unknown, complaint: string][] = [
      ["text.json", "{", "text.json is no JSON"],
      [
        "other.json",
        { a: 1 },
        "other.json has neither the items of a discovery endpoint nor the services of a registry",
      ],
      ["empty.json", [], "No source names a service that is paid in USDC on Base"],
      [
        "faulty.json",
        { services: [{ id: "a", label: "", recipients: ["0x1"] }] },
        "faulty.json is no registry: services.0.label: String should have at least 1 character (2 faults in all)",
      ],
    ];
    for (const [name, content, complaint] of wrong)
      expect((await complaintOf(from(await file(name, content)))).replace(`${folder}/`, "")).to.equal(complaint);
    expect(await complaintOf(from("/nowhere.json"))).to.equal("/nowhere.json cannot be read");
  });

  for (const [name, line] of Object.entries({ "no list": "{}", "status 404": 404, "no JSON": "<html>" }))
    it(`writes nothing when the facilitator answers with ${name}`, async () => {
      facilitator.script(line);
      expect(await complaintOf(from(facilitator.url))).to.match(/^The facilitator /);
    });

  it("writes the file that LEDGER_REGISTRY is to name, and says what is in it", async () => {
    const source = await file("items.json", [resource("https://a.example/", toAddress(1))]);
    const out = join(folder, "out.json");
    const program = new Command().exitOverride();
    addRegistryCommands(program);
    const { log } = console;
    const said: string[] = [];
    console.log = (line: string) => void said.push(line);
    try {
      await program.parseAsync(["node", "payphone", "registry", "import", source, "--out", out]);
    } finally {
      console.log = log;
    }
    const { loadRegistry } = await import("../../../plugins/ledger/registry.ts");
    const { version, find } = loadRegistry(out, { id: "own", label: "Own", recipient: undefined });
    expect(said).to.deep.equal([`${out}: 1 service, 1 recipient, version ${version}`]);
    expect(find(toAddress(1))).to.deep.equal({ id: "a.example", label: "a.example", category: "x402" });
  });

  if (existsSync("/dev/full"))
    it("says in one line that the disk is full", async () => {
      const source = await file("items.json", [resource("https://a.example/", toAddress(1))]);
      const { code, err } = await runPayphone(["registry", "import", source, "--out", "/dev/full"]);
      expect([code, err]).to.deep.equal([1, "payphone: ENOSPC: no space left on device, write\n"]);
    });
});

describe("the registry that is built in", () => {
  it("is one as its schema describes it, in the order of an imported one", async () => {
    const path = join(import.meta.dirname, "../../../plugins/ledger/registry.json");
    const { services } = await importRegistry([path], NOW, new AbortController().signal);
    const { default: builtin } = await import("../../../plugins/ledger/registry.json", { with: { type: "json" } });
    expect(services).to.deep.equal(builtin.services);
  });

  it("says of every seller where and when its addresses were stated", async () => {
    const { default: builtin } = await import("../../../plugins/ledger/registry.json", { with: { type: "json" } });
    const sellers = builtin.services.filter(({ category }) => category === "x402");
    expect(sellers).to.have.length.of.at.least(15);
    for (const { id, source, as_of } of sellers) {
      expect(source, id).to.be.a("string");
      expect(as_of, id).to.match(/^2026-\d\d-\d\d$/);
    }
  });

  it("knows sellers of the public directories by each of their addresses", async () => {
    const { loadRegistry } = await import("../../../plugins/ledger/registry.ts");
    const { find } = loadRegistry(undefined, { id: "own", label: "Own", recipient: undefined });
    for (const recipient of [
      "0x271189c860db25bc43173b0335784ad68a680908",
      "0x3c5f3a6ce224bb89d72f5eb4232ecc27f67b3eea",
    ])
      expect(find(recipient)).to.deep.equal({
        id: "pro-api.coinmarketcap.com",
        label: "CoinMarketCap",
        category: "x402",
      });
    expect(find("0x6d6e695b09861467c7d462f5aaf31cf3540b9192")?.label).to.equal("Exa");
  });
});
