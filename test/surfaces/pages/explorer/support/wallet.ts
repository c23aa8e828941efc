import type { Page } from "playwright-core";
import { privateKeyToAccount } from "viem/accounts";
import type { Prepare } from "./browser.ts";

type Hex = `0x${string}`;

/** What a wallet was asked, in order. */
export interface FakeWallet {
  readonly asked: { readonly method: string; readonly params: readonly unknown[] }[];
  /** Puts the wallet into a page, before the page's own scripts run; in its place stands, later on, the wallet made last. */
  readonly into: Prepare;
}

export interface FakeWalletOptions {
  readonly key: Hex;
  /** The chain that it is on at first. */
  readonly chainId: number;
  /** Announced as EIP-6963 has it; left out, it is `window.ethereum` alone. */
  readonly name?: string;
  /** A method that fails, and what the wallet throws then. */
  readonly fails?: { readonly method: string; readonly error: unknown };
  /** A method that it does not know. */
  readonly lacks?: string;
  /** Whether its signatures of typed data end with 0 or 1, instead of 27 or 28. */
  readonly countsFromZero?: boolean;
}

/** A browser wallet (EIP-1193) that signs with a key of the test's. */
export function createFakeWallet({ key, chainId, name, fails, lacks, countsFromZero }: FakeWalletOptions): FakeWallet {
  const account = privateKeyToAccount(key);
  const asked: FakeWallet["asked"] = [];
  let chain = chainId;

  ask = async (method: string, params) => {
    asked.push({ method, params });
    if (method === fails?.method) return { thrown: fails.error };
    if (method === lacks) throw new Error(`the wallet knows no ${method}.`);
    if (method === "eth_requestAccounts") return [account.address];
    if (method === "eth_chainId") return `0x${chain.toString(16)}`;
    if (method === "wallet_switchEthereumChain") {
      chain = Number((params[0] as { chainId: string }).chainId);
      return null;
    }
    if (method === "personal_sign") return account.signMessage({ message: { raw: params[0] as Hex } });
    if (method !== "eth_signTypedData_v4") throw new Error(`the wallet knows no ${method}`);
    const { domain, types, primaryType, message } = JSON.parse(String(params[1]));
    if (domain.chainId !== chain) throw new Error(`the wallet is on chain ${chain}, not ${domain.chainId}`);
    const signature = await account.signTypedData({ domain, types, primaryType, message });
    return countsFromZero ? signature.replace(/1b$/, "00").replace(/1c$/, "01") : signature;
  };
  const into = INTO.get(name) ?? ((page) => install(page, name));
  INTO.set(name, into);
  return { asked, into };
}

/** What the wallet made last does when it is asked. */
let ask: (method: string, params: readonly unknown[]) => Promise<unknown>;
/** By the name that is announced: a page that was prepared once can be used again. */
const INTO = new Map<string | undefined, Prepare>();

async function install(page: Page, name: string | undefined): Promise<void> {
  await page.exposeFunction("askWallet", (method: string, params: readonly unknown[]) => ask(method, params));
  await page.addInitScript((announced) => {
    const world = globalThis as unknown as {
      askWallet(method: string, params: unknown[]): Promise<object | null>;
      ethereum: object;
      addEventListener(type: string, listener: () => void): void;
      dispatchEvent(event: Event): void;
    };
    const provider = {
      async request({ method, params = [] }: { method: string; params?: unknown[] }): Promise<unknown> {
        const answer = await world.askWallet(method, params);
        if (answer !== null && typeof answer === "object" && "thrown" in answer) throw answer.thrown;
        return answer;
      },
    };
    if (announced === undefined) world.ethereum = provider;
    else {
      const detail = { info: { uuid: "1", name: announced, icon: "data:,", rdns: "test" }, provider };
      const announce = () => world.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
      world.addEventListener("eip6963:requestProvider", announce);
    }
  }, name);
}
