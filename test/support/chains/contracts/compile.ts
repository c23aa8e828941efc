/**
 * Compiles the contracts of this folder: `node test/support/chains/contracts/compile.ts <folder>`, where <folder> is one
 * in which `npm install --save-exact solc@0.8.37` was run. The compiler is no dependency of this project.
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
  contracts?: Record<string, Record<string, { evm: { deployedBytecode: { object: string } } }>>;
}

const settings = { evmVersion: "cancun", viaIR: true, optimizer: { enabled: true, runs: 200 } };
const solc = createRequire(resolve(process.argv[2] ?? ".", "package.json"))("solc") as Solc;
const outputSelection = { "*": { "*": ["evm.deployedBytecode.object"] } };
const metadata = { bytecodeHash: "none", appendCBOR: false };

for (const name of ["Ens", "TrapWallet"]) {
  const file = `${name}.sol`;
  const content = readFileSync(join(import.meta.dirname, file), "utf8");
  const input = {
    language: "Solidity",
    sources: { [file]: { content } },
    settings: { ...settings, metadata, outputSelection },
  };
  const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  for (const { formattedMessage } of errors) console.error(formattedMessage);
  if (errors.some(({ severity }) => severity === "error")) process.exit(1);
  const bytecodes = Object.entries(contracts?.[file] ?? {})
    .map(([contract, { evm }]) => [contract, `0x${evm.deployedBytecode.object}`])
    .filter(([, bytecode]) => bytecode !== "0x");
  const built = {
    generated: `by compile.ts from ${file}; do not edit`,
    compiler: `solc ${solc.version()}`,
    settings,
    sourceSha256: createHash("sha256").update(content).digest("hex"),
    runtimeBytecode: Object.fromEntries(bytecodes),
  };
  writeFileSync(join(import.meta.dirname, `${name}.bytecode.json`), `${JSON.stringify(built, null, 2)}\n`);
}
