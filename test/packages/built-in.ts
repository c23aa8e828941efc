import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { licenceOf } from "./licences.ts";

/** A library as one module. */
export interface BuiltIn {
  readonly code: string;
  /** The licences of all packages in it, which ask to be repeated. */
  readonly notices: string;
}

/** Its parts that are CommonJS require Node's modules. */
const REQUIRE = 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);';

/** Puts what `source` exports, and the packages that it needs, into one module. @param root the folder with `node_modules`. */
export async function buildIn(source: string, root: string): Promise<BuiltIn> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: root },
    banner: { js: REQUIRE },
    bundle: true,
    platform: "node",
    mainFields: ["module", "main"], // Of what is no module, nothing could be exported by name.
    target: "node24",
    format: "esm",
    write: false,
    metafile: true,
    absWorkingDir: root,
    logLevel: "error",
  });
  const folders = Object.keys(metafile.inputs).flatMap(
    (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [],
  );
  const notices = [...new Set(folders)].sort().map((folder) => toNotice(join(root, folder)));
  return { code: outputFiles[0]?.text ?? "", notices: notices.join("\n\n") };
}

function toNotice(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const [file] = globSync("{LICEN[CS]E,licen[cs]e,COPYING}*", { cwd: folder });
  const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim();
  return `${name} ${version}, ${licenceOf(name, { version, license })}\n\n${text}`;
}
