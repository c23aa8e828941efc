import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { RailManifest, SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { EvmChain } from "../../../runtime/sandbox/evm/chain.ts";
import type { Token } from "../../../runtime/sandbox/evm/tokens.ts";
import { openSandbox, type Sandbox } from "../../../runtime/sandbox/open-sandbox.ts";
import type { SvmChain } from "../../../runtime/sandbox/svm/chain.ts";
import { atEnd } from "../at-end.ts";
import { createFolder } from "../folder.ts";

/** The project's own site. */
export const site = parse(
  readFileSync(join(import.meta.dirname, "../../../manifests/_site.yaml"), "utf8"),
) as SiteManifest;

/** One rail of the project's own site. */
export function rail(id: string): RailManifest {
  const found = site.rails.find((candidate) => candidate.id === id);
  if (!found) throw new Error(`There is no rail ${id}`);
  return found;
}

/** The sandbox of the project's own site. */
export interface TestSandbox extends Sandbox {
  readonly base: EvmChain;
  readonly polygon: EvmChain;
  readonly solana: SvmChain;
  readonly usdc: Token;
  readonly jpyc: Token;
}

/** One sandbox for all test files of this process: started on first use, stopped after the last test. */
export function sharedSandbox(): Promise<TestSandbox> {
  shared ??= openShared();
  return shared;
}

/** A separate sandbox, which the caller stops. Without a `dataDir` it uses a temporary one. */
export async function openTestSandbox(dataDir: string = createFolder()): Promise<TestSandbox> {
  const sandbox = await openSandbox({ rails: site.rails, dataDir, log: silentLog });
  const { evm, solana, tokens } = sandbox.chains;
  return {
    ...sandbox,
    base: evm.get(rail("base").network)!,
    polygon: evm.get(rail("polygon").network)!,
    solana: solana.get(rail("solana").network)!,
    usdc: tokens.get("base")!,
    jpyc: tokens.get("polygon")!,
  };
}

let shared: Promise<TestSandbox> | undefined;

async function openShared(): Promise<TestSandbox> {
  const sandbox = await openTestSandbox();
  atEnd(sandbox.stop);
  return sandbox;
}
