import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const created: string[] = [];

/** The path of a new temporary folder, which is removed when this process ends. */
export function createFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "payphone-"));
  if (created.push(path) === 1) process.once("exit", removeAll);
  return path;
}

function removeAll(): void {
  for (const path of created) rmSync(path, { recursive: true, force: true });
}
