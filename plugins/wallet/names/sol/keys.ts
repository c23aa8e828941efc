import { createHash } from "node:crypto";
import { base58 } from "@scure/base";

/** The addresses of the accounts that hold a .sol name's data. */
export interface SolKeys {
  /** The Solana Record Service's record, and the mint of the name's NFT if it has one. */
  readonly registration: string;
  readonly registrationMint: string;
  /** SNS' domain account, its NFT record, and that NFT's mint. */
  readonly domain: string;
  readonly token: string;
  readonly tokenMint: string;
  /** The SOL record that names the address to pay: by SNS-IP 3 (V2), and the older kind (V1). */
  readonly recordV2: string;
  readonly recordV1: string;
}

/** The owning programs. Each address is derived from its program, so only that program can write there. */
export const PROGRAMS = {
  sns: "namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX",
  tokenizer: "nftD3vbNkNqfj2Sd3HZwbpw4BxxKWr4AjGb9X38JeZk",
  offers: "85iDfUvr3HJyLM2zcq5BXSiDvUWfw6cSE1FfNBo8Ap29",
  recordService: "srsWjm76StJucL7atFyPSdXFaVLNPFqEt1uFEDPrZsn",
} as const;
/** The Solana Record Service's class of .sol names. */
export const SOL_CLASS = "Dqc9TrYg1AZLEa6UkZUqCDrr9zsHQveo1szGTE1BTW5";

const SNS_ROOT = base58.decode("58PwtjSDuFHuUkYjH9BYnnQKHfwo9reZhC2zMJv9JPkx");
const SNS_RECORDS = base58.decode("2pMnqHvei2N5oDcVGCRdZx48gqti199wr5CsyTTafsbo");
const SNS_REVERSE = base58.decode("33m47vH6Eav6jr5Ry86XjhRft2jRBLDnDgPSHoquXi2Z");
const NONE = new Uint8Array(32);

/** Derives the addresses. @param label the name without its suffix and without dots. */
export async function toSolKeys(label: string): Promise<SolKeys> {
  const derive = await openDerive();
  const registration = derive("recordService", "record", base58.decode(SOL_CLASS), sha256(`name${label}`));
  const domain = derive("sns", toSnsHash(label), NONE, SNS_ROOT);
  const key = base58.decode(domain);
  return {
    registration,
    registrationMint: derive("recordService", "mint", base58.decode(registration)),
    domain,
    token: derive("tokenizer", "nft_record", key),
    tokenMint: derive("tokenizer", "tokenized_name", key),
    recordV2: derive("sns", toSnsHash("\x02SOL"), SNS_RECORDS, key),
    recordV1: derive("sns", toSnsHash("\x01SOL"), NONE, key),
  };
}

/** The account that holds a wallet's favourite name. */
export async function toFavouriteKey(wallet: string): Promise<string> {
  return (await openDerive())("offers", "favourite_domain", base58.decode(wallet));
}

/** The account that holds the text of a domain account's name. */
export async function toReverseKey(domain: string): Promise<string> {
  return (await openDerive())("sns", toSnsHash(domain), SNS_REVERSE, NONE);
}

/** Whether a key can have a secret key: program-derived addresses lie off the curve. */
export async function isWallet(key: string): Promise<boolean> {
  const { PublicKey } = await import("@solana/web3.js");
  return PublicKey.isOnCurve(base58.decode(key));
}

/** The Solana library is loaded on first use. */
async function openDerive() {
  const { PublicKey } = await import("@solana/web3.js");
  return (program: keyof typeof PROGRAMS, ...seeds: readonly (string | Uint8Array)[]): string => {
    const bytes = seeds.map((seed) => (typeof seed === "string" ? Buffer.from(seed) : seed));
    return PublicKey.findProgramAddressSync(bytes, new PublicKey(PROGRAMS[program]))[0].toBase58();
  };
}

const toSnsHash = (name: string): Buffer => sha256(`SPL Name Service${name}`);

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
