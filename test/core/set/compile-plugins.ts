import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { writeTypes } from "../../../runtime/cli/set/types.ts";
import { createFolder } from "../../support/folder.ts";
import { type Files, ROOT, readFilesOf, writeFiles } from "./served-directory.ts";

/**
 * The output of `tsc` for a served directory beside payphone, with the package.json and tsconfig.json of the README for
 * authors. Empty when it compiles.
 */
export async function compilePlugins(files: Files): Promise<string> {
  const home = createFolder();
  const dir = join(home, "shop");
  await symlink(ROOT, join(home, "payphone"));
  await writeFiles(dir, { ...(await readFilesOf("plugins/README.md")), ...files });
  await writeTypes(dir);
  return await runTsc(dir);
}

function runTsc(cwd: string): Promise<string> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, "--pretty", "false"], { cwd }, (_error, stdout) => resolve(stdout));
  });
}
