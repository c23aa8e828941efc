/**
 * `npm run build`, which `npm pack` runs first: `dist/`, what an installed payphone runs. Node strips no types below
 * `node_modules`, so it is JavaScript with declarations, in the folders of the sources. Some libraries are built in. It is
 * `npm run typecheck` that checks the types.
 */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { buildIn } from "./built-in.ts";

const ROOT = join(import.meta.dirname, "../..");
const DIST = join(ROOT, "dist");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

/** What is served or read as it is. JSON that modules import is copied by the compiler. */
const ASSETS = [
  "runtime/surfaces/**/*.{css,js,png,svg}",
  "runtime/cli/**/*.{txt,yaml}",
  "runtime/**/*.d.ts",
  "manifests/_site.yaml",
];

const MCP_CLIENT = "@modelcontextprotocol/client";
const MCP_SERVER = "@modelcontextprotocol/server";
/** Libraries that are built in (runtime/docs/decisions/package.md): the name in `dist/libraries/`, and what is needed of it. */
const BUILT_IN = [
  { own: "solana-web3", libraries: ["@solana/web3.js"], source: 'export * from "@solana/web3.js";' },
  { own: "openai", libraries: ["openai"], source: 'export { default } from "openai";' },
  {
    own: "mcp-client",
    libraries: [MCP_CLIENT, `${MCP_CLIENT}/stdio`],
    source: `export * from "${MCP_CLIENT}";\nexport { StdioClientTransport } from "${MCP_CLIENT}/stdio";`,
  },
  {
    own: "mcp-server",
    libraries: [MCP_SERVER, `${MCP_SERVER}/stdio`],
    source: `export * from "${MCP_SERVER}";\nexport { StdioServerTransport, serveStdio } from "${MCP_SERVER}/stdio";`,
  },
];
/** An import of a part of these libraries that the package would not have. */
const IMPORT_OF_BUILT_IN = new RegExp(
  `(?:from |import\\()"((?:${BUILT_IN.flatMap(({ libraries }) => libraries).join("|")})(?:/[^"]*)?)"`,
);

rmSync(DIST, { recursive: true, force: true });
execFileSync(process.execPath, [TSC, "--noCheck", "-p", join(ROOT, "runtime/tsconfig.build.json")], {
  stdio: "inherit",
});
for (const file of globSync(ASSETS, { cwd: ROOT })) cpSync(join(ROOT, file), join(DIST, file));

mkdirSync(join(DIST, "libraries"));
for (const { own, source } of BUILT_IN) {
  const { code, notices } = await buildIn(source, ROOT);
  writeFileSync(join(DIST, `libraries/${own}.js`), code);
  writeFileSync(join(DIST, `libraries/${own}.LICENSES.txt`), notices);
}
for (const file of globSync("runtime/**/*.js", { cwd: DIST })) {
  const code = withBuiltIn(readFileSync(join(DIST, file), "utf8"));
  const [, missing] = IMPORT_OF_BUILT_IN.exec(code) ?? [];
  if (missing) throw new Error(`${file} imports ${missing}, which is not among what is built in (BUILT_IN)`);
  writeFileSync(join(DIST, file), code);
}

const { name, version, description, type, engines } = packageJson;
const imports = Object.fromEntries(BUILT_IN.map(({ own }) => [`#${own}`, `./libraries/${own}.js`]));
const inside = { name, version, description, type, engines, imports };
writeFileSync(join(DIST, "package.json"), `${JSON.stringify(inside, null, 2)}\n`);

/** A module that imports the built-in libraries by their names in `dist/package.json`. */
function withBuiltIn(code: string): string {
  const pairs = BUILT_IN.flatMap(({ own, libraries }) => libraries.map((library) => [library, `#${own}`] as const));
  return pairs.reduce(
    (text, [library, own]) =>
      text.replaceAll(`from "${library}"`, `from "${own}"`).replaceAll(`import("${library}")`, `import("${own}")`),
    code,
  );
}
