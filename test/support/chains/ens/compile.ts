/**
 * Compiles Ens.sol: `node test/support/chains/ens/compile.ts <folder>`, where <folder> is one in which
 * `npm install --save-exact solc@0.8.37` was run. The compiler is no dependency of this project.
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
  contracts?: Record<string, Record<string, { abi: object[]; evm: { deployedBytecode: { object: string } } }>>;
}

const settings = { evmVersion: "cancun", viaIR: true, optimizer: { enabled: true, runs: 200 } };
const solc = createRequire(resolve(process.argv[2] ?? ".", "package.json"))("solc") as Solc;
const content = readFileSync(join(import.meta.dirname, "Ens.sol"), "utf8");
const outputSelection = { "*": { "*": ["abi", "evm.deployedBytecode.object"] } };
const metadata = { bytecodeHash: "none", appendCBOR: false };
const input = {
  language: "Solidity",
  sources: { "Ens.sol": { content } },
  settings: { ...settings, metadata, outputSelection },
};
const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
for (const { formattedMessage } of errors) console.error(formattedMessage);
if (errors.some(({ severity }) => severity === "error")) process.exit(1);
const built = Object.entries(contracts?.["Ens.sol"] ?? {}).filter(([, { evm }]) => evm.deployedBytecode.object !== "");
const file = {
  generated: "by compile.ts from Ens.sol; do not edit",
  compiler: `solc ${solc.version()}`,
  settings,
  sourceSha256: createHash("sha256").update(content).digest("hex"),
  contracts: Object.fromEntries(
    built.map(([name, { abi, evm }]) => [name, { abi, runtimeBytecode: `0x${evm.deployedBytecode.object}` }]),
  ),
};
writeFileSync(join(import.meta.dirname, "Ens.abi.json"), `${JSON.stringify(file, null, 1)}\n`);
