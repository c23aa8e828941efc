import { Keypair, PublicKey, SystemProgram, Transaction, TransactionInstruction } from "@solana/web3.js";
import type { Clock } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import { closeServer, createRpcServer, listenOnLoopback } from "./json-rpc.ts";
import { openBank } from "./svm-bank.ts";
import { createSlots } from "./svm-blockhashes.ts";
import { createSvmMethods, GENESIS_HASH } from "./svm-methods.ts";
import { readToken, TOKEN_PROGRAM, toMintData, toTokenAddress, toTokenData } from "./svm-tokens.ts";
import { toWireTransaction, type WireTransaction } from "./svm-transaction.ts";

/** What a Solana chain of one's own is started with. */
export interface SvmChainOptions {
  /** 0 or nothing: any free one. */
  readonly port?: number;
  /** The chain's time; left out, the real one. */
  readonly clock?: Clock;
}

/** A running Solana node that holds play money, with the faults that a real one shows now and then. */
export interface SvmChain {
  readonly url: string;
  /** CAIP-2, of the mainnet that it stands for. */
  readonly network: `solana:${string}`;
  /** Places a token's mint; the token functions below mean the mint that was placed last. */
  putMint(mint: string, decimals: number): void;
  /** Opens (or overwrites) the owner's associated token account with this amount of atomic units; answers its address. */
  putTokenAccount(owner: string, amount: bigint): string;
  /** Atomic units; 0 when there is no account. */
  tokenBalance(owner: string): bigint;
  /** Gives lamports away; answers the transaction's signature. */
  airdrop(to: string, lamports: bigint): string;
  /** The next `count` transactions sent are answered with their signatures and then lost. */
  drop(count: number): void;
  /** Transactions sent from now on wait … */
  hold(): void;
  /** … until now, when they are carried out in the order of their arrival. */
  release(): void;
  /** No blockhash given out until now is valid any more. */
  expireBlockhash(): void;
  stop(): Promise<void>;
}

/**
 * Starts the Solana runtime behind a JSON-RPC server on loopback, without a websocket: poll.
 * @throws Problem `unavailable` when litesvm is not installed.
 */
export async function startSvmChain({ port = 0, clock = Date }: SvmChainOptions = {}): Promise<SvmChain> {
  const slots = createSlots(clock);
  const bank = await openBank(slots);
  const faucet = Keypair.generate();
  const faucetAddress = faucet.publicKey.toBase58();
  const putAccount = (address: string, owner: string, lamports: bigint, data: Buffer = Buffer.alloc(0)): void =>
    bank.putAccount({ address, owner, lamports, data });
  putAccount(faucetAddress, SystemProgram.programId.toBase58(), 10n ** 18n);

  let mint: string | undefined;
  const tokenAddress = (owner: string): string => {
    if (!mint) throw new Problem("internal", "The chain has no token yet: putMint comes first");
    return toTokenAddress(mint, owner);
  };

  let toDrop = 0;
  let waiting: WireTransaction[] | undefined;
  const accept = (wire: WireTransaction): void => {
    if (toDrop > 0) toDrop -= 1;
    else if (waiting) waiting.push(wire);
    else bank.land(wire);
  };

  let gifts = 0;
  const airdrop = (to: string, lamports: bigint): string => {
    gifts += 1;
    const { blockhash } = slots.latestBlockhash();
    const wire = toWireTransaction(toGift({ faucet, to, lamports, blockhash, gift: gifts }));
    bank.land(wire);
    const landed = bank.transactions.get(wire.signatures[0]);
    if (!landed || landed.err)
      throw new Problem("upstream-failed", `The airdrop failed: ${JSON.stringify(landed?.err)}`);
    return wire.signatures[0];
  };

  const server = createRpcServer(createSvmMethods({ bank, slots, accept, airdrop }));
  return {
    url: await listenOnLoopback(server, port),
    network: `solana:${GENESIS_HASH.slice(0, 32)}`,
    putMint: (address, decimals) => {
      mint = address;
      const data = toMintData(faucetAddress, decimals);
      putAccount(address, TOKEN_PROGRAM, bank.rentFor(data.length), data);
    },
    putTokenAccount: (owner, amount) => {
      const address = tokenAddress(owner);
      const data = toTokenData(mint!, owner, amount);
      putAccount(address, TOKEN_PROGRAM, bank.rentFor(data.length), data);
      return address;
    },
    tokenBalance: (owner) => readToken(bank.account(tokenAddress(owner)))?.amount ?? 0n,
    airdrop,
    drop: (count) => {
      toDrop = count;
    },
    hold: () => {
      waiting ??= [];
    },
    release: () => {
      const held = waiting ?? [];
      waiting = undefined;
      held.forEach(bank.land);
    },
    expireBlockhash: slots.expire,
    stop: () => closeServer(server),
  };
}

interface Gift {
  readonly faucet: Keypair;
  readonly to: string;
  readonly lamports: bigint;
  readonly blockhash: string;
  /** Written into a memo, so that two equal gifts are two transactions. */
  readonly gift: number;
}

function toGift({ faucet, to, lamports, blockhash, gift }: Gift): Uint8Array {
  const transaction = new Transaction({ feePayer: faucet.publicKey, recentBlockhash: blockhash }).add(
    SystemProgram.transfer({ fromPubkey: faucet.publicKey, toPubkey: new PublicKey(to), lamports }),
    new TransactionInstruction({ keys: [], programId: MEMO_PROGRAM, data: Buffer.from(`airdrop ${gift}`) }),
  );
  transaction.sign(faucet);
  return transaction.serialize();
}

const MEMO_PROGRAM = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
