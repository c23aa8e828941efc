/**
 * Compiles the contracts of the sandbox and of the tests: `node test/support/chains/contracts/compile.ts <folder>`, where
 * <folder> is one in which `npm install --save-exact solc@0.8.37` was run. The compiler is no dependency of this project.
 */
import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";

interface Solc {
  version(): string;
  compile(input: string): string;
}

interface Output {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<string, Record<string, { evm: { deployedBytecode: { object: string } } }>>;
}

const settings = {
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 200 },
  viaIR: true,
  metadata: { bytecodeHash: "none", appendCBOR: false },
};
const outputSelection = { "*": { "*": ["evm.deployedBytecode.object"] } };
const solc = createRequire(resolve(process.argv[2] ?? ".", "package.json"))("solc") as Solc;
const root = join(import.meta.dirname, "../../../..");

for (const path of globSync("{runtime/sandbox,test/support/chains}/contracts/*.sol", { cwd: root })) {
  const file = basename(path);
  const content = readFileSync(join(root, path), "utf8");
  const input = { language: "Solidity", sources: { [file]: { content } }, settings: { ...settings, outputSelection } };
  const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  for (const { formattedMessage } of errors) console.error(formattedMessage);
  if (errors.some(({ severity }) => severity === "error")) process.exit(1);
  const all = contracts?.[file] ?? {};
  const name = basename(file, ".sol");
  // A contract that has its file's name stands for the file: the others are parts of it.
  const bytecodes = Object.entries(name in all ? { [name]: all[name]! } : all)
    .map(([contract, { evm }]) => [contract, `0x${evm.deployedBytecode.object}`])
    .filter(([, bytecode]) => bytecode !== "0x");
  const built = {
    generated: "by test/support/chains/contracts/compile.ts from the Solidity file of the same name; do not edit",
    compiler: `solc ${solc.version()}`,
    settings,
    sourceSha256: createHash("sha256").update(content).digest("hex"),
    runtimeBytecode: Object.fromEntries(bytecodes),
  };
  writeFileSync(join(root, path.replace(/\.sol$/, ".bytecode.json")), `${JSON.stringify(built, null, 2)}\n`);
}
