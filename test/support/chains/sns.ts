import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { base58 } from "@scure/base";
import {
  PROGRAMS,
  SOL_CLASS,
  toFavouriteKey,
  toReverseKey,
  toSolKeys,
} from "../../../plugins/wallet/names/sol/keys.ts";
import { TOKEN_PROGRAM } from "../../../runtime/drivers/solana/programs.ts";
import { closeServer, createRpcServer, listenOnLoopback, NodeRpcError } from "../../../runtime/sandbox/json-rpc.ts";
import { openBank } from "../../../runtime/sandbox/svm/bank.ts";
import { createFaucet } from "../../../runtime/sandbox/svm/faucet.ts";
import { createNodeMethods } from "../../../runtime/sandbox/svm/node-methods.ts";
import { createSlots } from "../../../runtime/sandbox/svm/slots.ts";
import { toTokenData } from "../../../runtime/sandbox/svm/tokens.ts";

export const TOKEN_2022_PROGRAM = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";

/** A Solana wallet that can sign. */
export interface SolWallet {
  readonly address: string;
  readonly key: KeyObject;
}

/** An embedded Solana, with the accounts of both registries as their programs write them. */
export interface Sns {
  readonly url: string;
  /** Writes an account; removes it when there is no data. */
  put(address: string, program: string, data: Buffer): void;
  /** Writes the name's entry in SNS. */
  own(label: string, owner: string): Promise<void>;
  /** Writes the name's entry in the Solana Record Service. */
  hold(label: string, owner: string, entry?: Partial<Entry>): Promise<void>;
  /** Writes both entries, as for most names. */
  register(label: string, owner: string): Promise<void>;
  /** Gives the only unit of a token to a holder. @param elsewhere more units, in another account. */
  putToken(mint: string, holder: string, token?: { program?: string; amount?: bigint; elsewhere?: bigint }): void;
  /** Makes the name a token at SNS. @param tag 2 while it is one. */
  tokenize(label: string, holder: string, tag?: number): Promise<void>;
  setRecordV1(label: string, target: string, signer: SolWallet): Promise<void>;
  /** @param signed how both ids were signed; 1 means by a Solana wallet. */
  setRecordV2(label: string, record: RecordV2): Promise<void>;
  setFavourite(wallet: string, label: string, entry?: { tag?: number; name?: string }): Promise<void>;
  stop(): Promise<void>;
}

/** Omitted options have valid values. */
interface Entry {
  readonly kind: number;
  /** Unix seconds; 0 for never. */
  readonly expiry: bigint;
  readonly nameClass: string;
  /** The length of its data; less than 75 cuts the header short. */
  readonly length: number;
}

interface RecordV2 {
  readonly target: string;
  /** The keys that set and confirmed it; default: the target. */
  readonly setBy: string;
  readonly confirmedBy?: string;
  readonly signed?: number;
}

export function createSolWallet(): SolWallet {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  return { address: base58.encode(Buffer.from(x, "base64url")), key: privateKey };
}

export async function startSns(): Promise<Sns> {
  const slots = createSlots(Date);
  const bank = await openBank(slots);
  const { airdrop } = createFaucet(bank, slots);
  const tokens = new Map<string, { address: string; amount: string; decimals: number }[]>();
  const server = createRpcServer({
    ...createNodeMethods({ network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", bank, slots, airdrop }),
    getTokenLargestAccounts: ([mint]) => {
      const held = tokens.get(String(mint));
      if (!held) throw new NodeRpcError(-32602, "Invalid param: could not find mint");
      return { context: { slot: 1 }, value: held };
    },
  });
  const url = await listenOnLoopback(server);

  const put: Sns["put"] = (address, program, data) =>
    bank.putAccount({ address, owner: program, lamports: bank.rentFor(data.length), data });
  const own: Sns["own"] = async (label, owner) =>
    put((await toSolKeys(label)).domain, PROGRAMS.sns, toSnsData(SNS_ROOT, owner, NONE));
  const hold: Sns["hold"] = async (label, owner, entry = {}) => {
    const { kind = 0, expiry = 0n, nameClass = SOL_CLASS, length = 75 + 1 + 32 } = entry;
    const data = Buffer.alloc(75 + 1 + 32);
    data[0] = 2;
    data.set(base58.decode(nameClass), 1);
    data[33] = kind;
    data.set(base58.decode(owner), 34);
    data.writeBigInt64LE(expiry, 67);
    put((await toSolKeys(label)).registration, PROGRAMS.recordService, data.subarray(0, length));
  };
  const putToken: Sns["putToken"] = (mint, holder, { program = TOKEN_PROGRAM, amount = 1n, elsewhere = 0n } = {}) => {
    const { address } = createSolWallet();
    const held = [amount, elsewhere].map((units) => ({ address, amount: String(units), decimals: 0 }));
    tokens.set(mint, held);
    put(address, program, toTokenData(mint, holder, amount));
  };

  return {
    url,
    put,
    own,
    hold,
    putToken,
    register: async (label, owner) => void (await Promise.all([own(label, owner), hold(label, owner)])),
    tokenize: async (label, holder, tag = 2) => {
      const { token, tokenMint, domain } = await toSolKeys(label);
      const keys = [domain, holder, tokenMint].map((key) => base58.decode(key));
      put(token, PROGRAMS.tokenizer, Buffer.concat([Buffer.from([tag, 255]), ...keys]));
      putToken(tokenMint, holder);
    },
    setRecordV1: async (label, target, signer) => {
      const { recordV1, domain } = await toSolKeys(label);
      const content = Buffer.from(base58.decode(target));
      const message = Buffer.concat([content, base58.decode(recordV1)]).toString("hex");
      const signature = sign(null, Buffer.from(message), signer.key);
      put(recordV1, PROGRAMS.sns, Buffer.concat([toSnsData(domain, signer.address, NONE), content, signature]));
    },
    setRecordV2: async (label, { target, setBy, confirmedBy = target, signed = 1 }) => {
      const { recordV2, domain } = await toSolKeys(label);
      const header = Buffer.alloc(8);
      header.writeUInt16LE(1, 0);
      header.writeUInt16LE(signed, 2);
      header.writeUInt32LE(32, 4);
      const keys = [setBy, confirmedBy, target].map((key) => base58.decode(key));
      put(recordV2, PROGRAMS.sns, Buffer.concat([toSnsData(domain, SNS_RECORDS, SNS_RECORDS), header, ...keys]));
    },
    setFavourite: async (wallet, label, { tag = 4, name = label } = {}) => {
      const { domain } = await toSolKeys(label);
      put(await toFavouriteKey(wallet), PROGRAMS.offers, Buffer.concat([Buffer.from([tag]), base58.decode(domain)]));
      const length = Buffer.alloc(4);
      length.writeUInt32LE(Buffer.byteLength(name));
      const header = toSnsData(NONE, NONE, SNS_REVERSE);
      put(
        await toReverseKey(domain),
        PROGRAMS.sns,
        Buffer.concat([header, length, Buffer.from(name), Buffer.alloc(9)]),
      );
    },
    stop: () => closeServer(server),
  };
}

const NONE = "11111111111111111111111111111111";
const SNS_ROOT = "58PwtjSDuFHuUkYjH9BYnnQKHfwo9reZhC2zMJv9JPkx";
const SNS_RECORDS = "2pMnqHvei2N5oDcVGCRdZx48gqti199wr5CsyTTafsbo";
const SNS_REVERSE = "33m47vH6Eav6jr5Ry86XjhRft2jRBLDnDgPSHoquXi2Z";

/** The header of every SNS account: parent, owner, class. */
const toSnsData = (...keys: readonly [parent: string, owner: string, kind: string]): Buffer =>
  Buffer.concat(keys.map((key) => base58.decode(key)));
