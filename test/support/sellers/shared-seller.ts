import { expect } from "chai";
import { atEnd } from "../at-end.ts";
import { sharedSandbox, type TestSandbox } from "../chains/chains.ts";
import { createFolder } from "../folder.ts";
import { type Seller, startSeller } from "./seller.ts";

/** The project's own services, sold by a process of `payphone serve`, and the sandbox in which they are paid. */
export interface SharedSeller {
  readonly sandbox: TestSandbox;
  readonly seller: Seller;
  /** The amounts received so far, by rail, in atomic units. */
  readonly received: Readonly<Record<"base" | "polygon" | "solana", () => Promise<bigint>>>;
}

/** One seller for all test files of this process: started on first use, stopped in order after the last test. */
export function sharedSeller(): Promise<SharedSeller> {
  shared ??= open();
  return shared;
}

let shared: Promise<SharedSeller> | undefined;

async function open(): Promise<SharedSeller> {
  const data = createFolder();
  const sandbox = await sharedSandbox();
  const seller = await startSeller({ sandbox, dataDir: data });
  atEnd(async () => {
    expect(await seller.stop()).to.equal(0);
  });
  const { usdc, jpyc, solana, env } = sandbox;
  return {
    sandbox,
    seller,
    received: {
      base: () => usdc.balanceOf(env.BASE_PAYMENT_ADDRESS!),
      polygon: () => jpyc.balanceOf(env.POLYGON_PAYMENT_ADDRESS!),
      solana: async () => solana.tokenBalance(env.SOLANA_PAYMENT_ADDRESS!),
    },
  };
}
