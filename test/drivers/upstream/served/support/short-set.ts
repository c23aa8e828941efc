import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";

const ROOT = join(import.meta.dirname, "../../../../..");

interface Bounded {
  timeout_seconds?: number;
}

/** The project's own services, but no source is waited for longer than a second: so that a test need not wait either. */
export async function makeShortSet(): Promise<{ dir: string; remove: () => Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), "payphone-short-"));
  for (const folder of ["plugins", "schemas"]) await symlink(join(ROOT, folder), join(dir, folder));
  await mkdir(join(dir, "manifests"));
  for (const file of await readdir(join(ROOT, "manifests"))) {
    if (!file.endsWith(".yaml")) continue;
    const data = parse(await readFile(join(ROOT, "manifests", file), "utf8")) as {
      upstreams?: readonly (Bounded | string)[];
      llm?: Bounded;
    };
    const waits = [...(data.upstreams ?? []), data.llm].filter((one) => typeof one === "object");
    for (const one of waits) one.timeout_seconds = 1;
    await writeFile(join(dir, "manifests", file), stringify(data));
  }
  return { dir, remove: () => rm(dir, { recursive: true }) };
}
