import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { TOKEN_PROGRAM } from "../../drivers/solana/programs.ts";
import { closeServer, createRpcServer, listenOnLoopback } from "../json-rpc.ts";
import { openBank } from "./bank.ts";
import { createFaucet, type SvmFaucet } from "./faucet.ts";
import { createMempool, type SvmMempool } from "./mempool.ts";
import { createNodeMethods } from "./node-methods.ts";
import { createSlots } from "./slots.ts";
import { readToken, toMintData, toTokenAddress, toTokenData } from "./tokens.ts";
import { createTransactionMethods } from "./transaction-methods.ts";

/** How to start an embedded Solana chain. */
export interface SvmChainOptions {
  /** The chain's time; real time by default. */
  readonly clock?: Clock;
  /** The CAIP-2 name of the network that this chain simulates; mainnet by default. */
  readonly network?: string;
}

const MAINNET = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

/** A running Solana node with play money, whose faults tests can trigger. */
export interface SvmChain extends Pick<SvmFaucet, "airdrop">, Pick<SvmMempool, "drop" | "hold" | "release"> {
  readonly url: string;
  /** The CAIP-2 name of the network that this chain simulates. */
  readonly network: `solana:${string}`;
  /** Places a token's mint. The token functions below use the mint that was placed last. */
  putMint(mint: string, decimals: number): void;
  /** Sets the balance of the owner's associated token account, in atomic units; gives its address. */
  putTokenAccount(owner: string, amount: bigint): string;
  /** Atomic units; 0 when there is no account. */
  tokenBalance(owner: string): bigint;
  /** Invalidates every blockhash that was issued. */
  expireBlockhash(): void;
  stop(): Promise<void>;
}

/**
 * Starts the Solana runtime behind a JSON-RPC server on loopback. It has no websocket; clients must poll.
 * @throws Problem `unavailable` when litesvm is not installed.
 */
export async function startSvmChain({ clock = Date, network = MAINNET }: SvmChainOptions = {}): Promise<SvmChain> {
  const slots = createSlots(clock);
  const bank = await openBank(slots);
  const { address: authority, airdrop } = createFaucet(bank, slots);
  const { accept, ...faults } = createMempool(bank.land);
  const server = createRpcServer({
    ...createNodeMethods({ bank, slots, network, airdrop }),
    ...createTransactionMethods({ bank, slots, accept }),
  });
  const url = await listenOnLoopback(server);

  const putToken = (address: string, data: Buffer): void =>
    bank.putAccount({ address, owner: TOKEN_PROGRAM, lamports: bank.rentFor(data.length), data });
  let placed: string | undefined;
  const mint = (): string => {
    if (!placed) throw new Problem("internal", "The chain has no token yet: putMint comes first");
    return placed;
  };
  return {
    url,
    airdrop,
    ...faults,
    network: network as `solana:${string}`,
    putMint: (address, decimals) => {
      placed = address;
      putToken(address, toMintData(authority, decimals));
    },
    putTokenAccount: (owner, amount) => {
      const address = toTokenAddress(mint(), owner);
      putToken(address, toTokenData(mint(), owner, amount));
      return address;
    },
    tokenBalance: (owner) => readToken(bank.account(toTokenAddress(mint(), owner)))?.amount ?? 0n,
    expireBlockhash: slots.expire,
    stop: () => closeServer(server),
  };
}
