/**
 * Compiles the contracts of this folder: `node runtime/sandbox/contracts/compile.ts <folder>`, where <folder> is one in
 * which `npm install --save-exact solc@0.8.37` was run. The compiler is no dependency of this project.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

interface Solc {
  version(): string;
  compile(input: string): string;
}

interface Output {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { evm: { deployedBytecode: { object: string } } }>>;
}

const settings = {
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 200 },
  viaIR: true,
  metadata: { bytecodeHash: "none", appendCBOR: false },
};
const solc = createRequire(resolve(process.argv[2] ?? ".", "package.json"))("solc") as Solc;

for (const name of ["SandboxToken", "Multicall3", "SmartWalletFactory"]) {
  const content = readFileSync(join(import.meta.dirname, `${name}.sol`), "utf8");
  const file = `${name}.sol`;
  const outputSelection = { "*": { [name]: ["evm.deployedBytecode.object"] } };
  const input = { language: "Solidity", sources: { [file]: { content } }, settings: { ...settings, outputSelection } };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  const faults = output.errors ?? [];
  for (const fault of faults) console.error(fault.formattedMessage);
  const compiled = output.contracts?.[file]?.[name];
  if (!compiled || faults.some(({ severity }) => severity === "error")) process.exit(1);
  const built = {
    generated: "by compile.ts from the Solidity file of the same name; do not edit",
    compiler: `solc ${solc.version()}`,
    settings,
    sourceSha256: createHash("sha256").update(content).digest("hex"),
    runtimeBytecode: `0x${compiled.evm.deployedBytecode.object}`,
  };
  writeFileSync(join(import.meta.dirname, `${name}.bytecode.json`), `${JSON.stringify(built, null, 2)}\n`);
}
