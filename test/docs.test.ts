import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { createWalletClient, erc20Abi, type Hex, http, publicActions } from "viem";
import { toCoinbaseSmartAccount } from "viem/account-abstraction";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";
import packageJson from "../package.json" with { type: "json" };
import { examineConfig, readConfig } from "../runtime/cli/config/config.ts";
import { loadSet } from "../runtime/cli/set/load.ts";
import type { SandboxDescription } from "../runtime/sandbox/open-sandbox.ts";
import { sharedSandboxServer } from "./support/sellers/shared-sandbox-server.ts";

/** What `payphone init` writes. */
const NEW_SHOP = join(import.meta.dirname, "../runtime/cli/init/shop");
const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..");
const FOLDERS = ["manifests", "plugins", "runtime", "schemas", "test"];
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

const inFolders = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
);
/** Every document of the repository. */
const DOCUMENTS = [...readdirSync(ROOT), ...inFolders].filter((name) => name.endsWith(".md"));

/** The names of all files, and the floors of the runtime. */
const NAMES = new Set(inFolders.map((name) => basename(name)));
const FLOORS = readdirSync(join(ROOT, "runtime"));

/** The anchors of a document's headings, as GitHub makes them. */
const anchorsOf = (file: string): string[] =>
  [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

/** Where a link or a picture of a document leads, if it stays in the repository. */
const linksOf = (file: string): string[] =>
  [...read(file).matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"|^\[[^\]]+\]: (\S+)$/gm)]
    .map(([, link, picture, reference]) => link ?? picture ?? reference ?? "")
    .filter((link) => !/^[a-z]+:/.test(link));

function isThere(from: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? from : relative(ROOT, join(ROOT, dirname(from), path));
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

/** The files that a document names and that are not there: by their paths from the root or the runtime, or by names alone. */
function missingIn(file: string): string[] {
  const texts = [...read(file).matchAll(/`([\w./-]+\.(?:ts|js|json|yaml|md)|[\w-]+\/[\w./-]*\/)`/g)].map(
    ([, text = ""]) => text,
  );
  const isKnown = (text: string): boolean => {
    const [head = ""] = text.split("/");
    if (head === text) return !text.endsWith(".ts") || NAMES.has(text);
    if (FLOORS.includes(head)) return existsSync(join(ROOT, "runtime", text)) || existsSync(join(ROOT, text));
    return !FOLDERS.includes(head) || existsSync(join(ROOT, text)) || existsSync(join(NEW_SHOP, `${text}.txt`));
  };
  return texts.filter((text) => !EXAMPLES.includes(text) && !isKnown(text));
}

/** Gives the smart wallet of the sandbox's buyer, as `wallet.mjs` opens it, a dollar. */
async function fundSmartWallet({ buyer, rpc, tokens }: SandboxDescription): Promise<void> {
  const account = privateKeyToAccount(buyer.evm.private_key);
  const client = createWalletClient({ account, chain: base, transport: http(rpc.base) }).extend(publicActions);
  const { address } = await toCoinbaseSmartAccount({ client, owners: [account], version: "1.1" });
  const call = { address: tokens.base as Hex, abi: erc20Abi, functionName: "transfer" } as const;
  const hash = await client.writeContract({ ...call, args: [address, 1_000_000n] });
  await client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
}

/** What stands in the clients page under this heading of its fence. */
const fence = (heading: string): string =>
  read("runtime/docs/clients.md").split(`\`\`\`${heading}\n`)[1]?.split("\n```")[0] ?? "";

/** Files that only examples name. */
const EXAMPLES = ["plugins/roll.ts", "manifests/.imports/"];

describe("the documents", () => {
  for (const file of DOCUMENTS) {
    it(`${file} leads nowhere in vain`, () => {
      expect(linksOf(file).filter((link) => !isThere(file, link))).to.deep.equal([]);
      expect(missingIn(file)).to.deep.equal([]);
      const scripts = [...read(file).matchAll(/npm run ([a-z:]+)/g)].map(([, name]) => name);
      expect(Object.keys(packageJson.scripts)).to.include.members(scripts);
    });
  }

  it("are where comments say that they are", () => {
    const sources = inFolders.filter((name) => /\.(?:ts|js|ya?ml|json|sol)$/.test(name));
    const lost = sources.flatMap((file) =>
      [...read(file).matchAll(/runtime\/docs\/[\w/-]+\.md(?:#[\w-]+)?/g)]
        .filter(([link]) => !isThere("README.md", link))
        .map(([link]) => `${file}: ${link}`),
    );
    expect(lost).to.deep.equal([]);
  });

  it("have a front page of at most 200 lines", () => {
    expect(read("README.md").split("\n").length).to.be.at.most(200);
  });

  it("explain every variable that is read", async () => {
    const asked = new Set<string>();
    readConfig(new Proxy({}, { get: (_target, name) => void asked.add(String(name)) }));
    const { site, manifests } = await loadSet(ROOT);
    for (const { pay_to, rpc } of site.rails) asked.add(pay_to).add(rpc);
    for (const { variable, key } of site.upstreams ?? [])
      for (const name of [variable, key?.variable]) if (name) asked.add(name);
    for (const { needs = [] } of manifests) for (const name of needs) asked.add(name);
    const text = read("runtime/docs/operations.md");
    const unexplained = [...asked].filter((name) => !name.endsWith("_FILE") && !text.includes(`\`${name}\``));
    expect(unexplained).to.deep.equal([]);
    const isRead = (name: string): boolean =>
      examineConfig({ [`${name}_FILE`]: "/nowhere" }).faults.some((fault) => fault.includes("cannot be read"));
    const secrets = [...asked].filter((name) => !name.endsWith("_FILE") && isRead(name));
    const rows = text.split("\n").filter((line) => line.startsWith("| `"));
    const unfiled = secrets.filter((name) =>
      rows.some((row) => row.includes(`\`${name}\``) && !row.includes("…_FILE")),
    );
    expect(secrets).to.include("TREASURY_EVM_KEY");
    expect(unfiled, "what is read from files, too").to.deep.equal([]);
  });

  it("install the packages of traces in versions that payphone takes", () => {
    const { peerDependencies } = packageJson;
    for (const file of ["runtime/docs/seller.md", "runtime/cli/monitor/tracing.ts"]) {
      const named = read(file).matchAll(/(@opentelemetry\/[\w-]+)(?:@([\d.]+))? ?/g);
      const versions = new Map([...named].map(([, name, version = "newest"]) => [name, `^${version}`]));
      expect([...versions.keys()], file).to.have.members(Object.keys(peerDependencies));
      for (const [name, range] of Object.entries(peerDependencies))
        expect(range.startsWith(`${versions.get(name)}.`), `${name} in ${file}`).to.equal(true);
    }
  });

  describe("have clients that pay as they stand:", () => {
    let sandbox: Awaited<ReturnType<typeof sharedSandboxServer>>;
    before(async () => {
      sandbox = await sharedSandboxServer();
      await fundSmartWallet(sandbox.description);
    });

    const SAID: Record<string, RegExp> = {
      "buy.mjs": /scheme: ["']eip191["']/,
      "buy-solana.mjs": /scheme: ["']eip191["']/,
      "wallet.mjs": /^200 [\s\S]*eip191/m,
      "name.mjs": /^\[ (\d+) \] \[ \1 \]$/m,
    };
    for (const [name, said] of Object.entries(SAID))
      it(name, async () => {
        const script = fence(`js ${name}`).replace("http://127.0.0.1:4021", sandbox.url);
        const env = { PATH: process.env.PATH };
        const keys = fence("sh export").replace("http://127.0.0.1:4021", sandbox.url);
        const buy = `${keys}\nexec "$NODE" --input-type=module --eval "$SCRIPT"`;
        const shell = { cwd: ROOT, env: { ...env, NODE: process.execPath, SCRIPT: script } };
        const { stdout } = await run("sh", ["-c", buy], shell);
        expect(stdout).to.match(said);
      });
  });
});
