import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import packageJson from "../../package.json" with { type: "json" };
import { silentLog } from "../../runtime/core/silent-log.ts";
import { openSandbox, type Sandbox } from "../../runtime/sandbox/open-sandbox.ts";
import { BASE_RAIL } from "../support/chains/scripted-rail.ts";
import { createFolder } from "../support/folder.ts";
import { createChainMoney } from "./chain-money.ts";
import { startScriptedFacilitator } from "./facilitator.ts";
import { type BatterySeller, startPayphone, startStock } from "./sellers.ts";
import { type Column, runBattery } from "./table.ts";

/** The sellers that the battery starts by itself. */
export const OWN = ["payphone", "@x402/express"] as const;

/** Runs the battery against sellers that it starts by itself, all on one sandbox's chain. */
export async function runOwn(
  sellers: readonly (typeof OWN)[number][],
  onFinding?: (line: string) => void,
): Promise<readonly Column[]> {
  const dataDir = createFolder();
  const sandbox = await openSandbox({ rails: [BASE_RAIL], dataDir, log: silentLog });
  try {
    return await Promise.all(sellers.map((seller) => runOne(seller, sandbox, onFinding)));
  } finally {
    await sandbox.stop();
  }
}

async function runOne(
  name: (typeof OWN)[number],
  sandbox: Sandbox,
  onFinding?: (line: string) => void,
): Promise<Column> {
  const accounts = new Map<string, PrivateKeyAccount>();
  const money = createChainMoney({
    facilitator: sandbox.description.facilitator,
    rpcUrl: sandbox.description.rpc[BASE_RAIL.id] as string,
    accountOf: (payer) => accounts.get(payer),
  });
  const facilitator = await startScriptedFacilitator(money);
  let seller: BatterySeller | undefined;
  try {
    seller = await startByName(name, sandbox, facilitator.url);
    const at = (path: string, label: string) => ({ method: "POST", url: seller?.url + path, body: { label } });
    return await runBattery(
      name === "payphone" ? name : `${name} ${packageJson.devDependencies[name]}`,
      {
        call: at("/v1/coin", "a"),
        swapped: at("/v1/coin", "b"),
        other: at("/v1/dice", "a"),
        facilitator,
        money,
        account: () => openAccount(sandbox, accounts),
        runs: seller.runs,
      },
      onFinding,
    );
  } finally {
    await seller?.stop();
    await facilitator.stop();
  }
}

const startByName = (name: (typeof OWN)[number], sandbox: Sandbox, facilitatorUrl: string): Promise<BatterySeller> =>
  name === "payphone"
    ? startPayphone(sandbox, facilitatorUrl)
    : startStock(facilitatorUrl, sandbox.env[BASE_RAIL.pay_to] as string);

/** A new account with a dollar and gas. */
async function openAccount({ chains }: Sandbox, accounts: Map<string, PrivateKeyAccount>): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  accounts.set(account.address, account);
  await chains.evm.get(BASE_RAIL.network)?.setBalance(account.address, 10n ** 18n);
  await chains.tokens.get(BASE_RAIL.id)?.mint(account.address, 1_000_000n);
  return account;
}
