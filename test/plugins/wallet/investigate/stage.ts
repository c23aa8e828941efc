import { encodeFunctionData, type Hex, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import wallet from "../../../../plugins/wallet/index.ts";
import type { Evidence } from "../../../../plugins/wallet/investigate/evidence.ts";
import type { Report } from "../../../../plugins/wallet/investigate/report/report.ts";
import type { Assessment } from "../../../../plugins/wallet/investigate/score/score.ts";
import type { Call, Host, ReportFile } from "../../../../runtime/api/plugin.ts";
import type { TestSandbox } from "../../../support/chains/chains.ts";
import { replay } from "../../../support/sources/replay.ts";
import { createWorldClock, type WorldClock } from "../../../support/world/clock.ts";
import { createHost, NOW, serve, type TestHost } from "../../host.ts";

/** Nobody listens there. */
export const DEAD = "http://127.0.0.1:1";
/** The Lazarus Group's, which OFAC's recorded list names, too. */
export const LAZARUS = "0x098b716b8aaf21512996dc57eb0615e2383e2f96";

export const OFAC_URL = "https://ofac.test/SDN.XML";
export const BLOCKSCOUT_URL = "https://blockscout.test/api/v2";

/** What report.json says. */
export type Data = Assessment & Evidence & Pick<Report, "domain" | "narrative">;

/** One investigation, with the files that were published for it. */
export interface Investigated {
  readonly deliverable: Record<string, unknown>;
  readonly report: string;
  readonly data: Data;
  readonly page: string;
}

/** Addresses that are not given answer nowhere. Waiting takes no time. */
export function openHost(urls: Readonly<Record<string, string>>, overrides: HostOverrides = {}): TestHost {
  const dead = { base: DEAD, ethereum: DEAD, solana: DEAD, goplus: DEAD, blockscout: DEAD };
  const { clock = createWorldClock() } = overrides;
  const reach = { urls: { ...dead, ofac: OFAC_URL, ...urls }, timeoutMs: 2000, retries: 0, pause: clock.pause };
  return createHost({ ...overrides, clock }, reach);
}

/** A clock on which a slow answer takes all of an attempt's time, so that it is asked for once. */
export function createLateClock(): { readonly clock: WorldClock; readonly noteCase: (name: string) => void } {
  const clock = createWorldClock();
  return {
    clock,
    noteCase(name) {
      if (name === "slow") clock.pass(ATTEMPT_MS);
    },
  };
}

const ATTEMPT_MS = 30 * 60_000;

type HostOverrides = Omit<Partial<Host>, "clock"> & { readonly clock?: WorldClock };

/** Sells the service, with the sanctions list read. */
export async function open(host: TestHost): Promise<(address: string, facts?: Partial<Call>) => Promise<Investigated>> {
  const ask = await serve("investigate", wallet, host);
  const list = replay(OFAC_URL, "plugins/wallet/recordings/ofac/sdn.json", ["success"]);
  await host.tasks.get("ofac")?.(new AbortController().signal);
  list.assertDone();
  return async (address, facts) => {
    const deliverable = await ask({ address }, facts);
    const bodyOf = (field: string): string => (host.published.get(String(deliverable[field])) as ReportFile).body;
    const [report, page] = [bodyOf("reportUrl"), bodyOf("reportHtmlUrl")];
    return { deliverable, report, data: JSON.parse(bodyOf("reportJsonUrl")) as Data, page };
  };
}

export const newAddress = (): string => privateKeyToAccount(generatePrivateKey()).address.toLowerCase();

/** A transfer of USDC on the embedded chain, from somebody who may be anybody. @param dollars whole ones. */
export async function pay({ base, usdc }: TestSandbox, from: string, to: string, dollars: number): Promise<void> {
  const units = BigInt(Math.round(dollars * 1e6));
  await usdc.mint(from, units);
  await transfer({ base, usdc }, from, to, units);
}

/** The same from what somebody has. */
export async function transfer(
  { base, usdc }: Pick<TestSandbox, "base" | "usdc">,
  from: string,
  to: string,
  units: bigint,
): Promise<void> {
  await base.setBalance(from as Hex, 10n ** 18n);
  await base.rpc("anvil_impersonateAccount", [from]);
  const data = encodeFunctionData({ abi, functionName: "transfer", args: [to as Hex, units] });
  const hash = await base.rpc("eth_sendTransaction", [{ from, to: usdc.address, data }]);
  while (!(await base.rpc("eth_getTransactionReceipt", [hash]))) await base.rpc("evm_mine", []);
}

/** The time of this machine, which is that of the embedded chains. */
export const present = (): WorldClock => createWorldClock(Math.max(Date.now(), NOW));

const abi = parseAbi(["function transfer(address to, uint256 value) returns (bool)"]);
