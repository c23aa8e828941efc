import {
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  type VersionedTransactionResponse,
} from "@solana/web3.js";
import { expect } from "chai";
import { sumOwnTransfers } from "../../../runtime/drivers/solana/own-transfers.ts";
import { TOKEN_PROGRAM } from "../../../runtime/drivers/solana/programs.ts";

const makeKey = (): PublicKey => Keypair.generate().publicKey;
const [OWNER, OTHER, MINT, ANOTHER_MINT] = [makeKey(), makeKey(), makeKey(), makeKey()];
/** Token accounts: two of the owner's, one of somebody else's, and one of the owner's for another token. */
const [ONE, TWO, THEIRS, FOREIGN] = [makeKey(), makeKey(), makeKey(), makeKey()];
const HELD = [
  { account: ONE, owner: OWNER, mint: MINT },
  { account: TWO, owner: OWNER, mint: MINT },
  { account: THEIRS, owner: OTHER, mint: MINT },
  { account: FOREIGN, owner: OWNER, mint: ANOTHER_MINT },
];

interface Terms {
  readonly source?: PublicKey;
  readonly destination?: PublicKey;
  readonly authority?: PublicKey;
  readonly program?: PublicKey;
  readonly bytes?: number;
}

/** TransferChecked of 1000, within the owner's accounts unless it says otherwise. */
function transfer(terms: Terms = {}): TransactionInstruction {
  const { source = ONE, destination = TWO, authority = OWNER, program = new PublicKey(TOKEN_PROGRAM) } = terms;
  const data = Buffer.alloc(terms.bytes ?? 10);
  data[0] = 12;
  data.writeBigUInt64LE(1000n, 1);
  const keys = [source, MINT, destination, authority].map((pubkey) => ({ pubkey, isSigner: false, isWritable: true }));
  return new TransactionInstruction({ programId: program, keys, data });
}

function sum(...instructions: TransactionInstruction[]): bigint {
  const recentBlockhash = makeKey().toBase58();
  const message = new TransactionMessage({ payerKey: makeKey(), recentBlockhash, instructions }).compileToV0Message();
  const preTokenBalances = HELD.map(({ account, owner, mint }) => ({
    accountIndex: message.staticAccountKeys.findIndex((key) => key.equals(account)),
    owner: owner.toBase58(),
    mint: mint.toBase58(),
  }));
  const landed = { meta: { preTokenBalances }, transaction: { message, signatures: [] } };
  const whose = { mint: MINT.toBase58(), owner: OWNER.toBase58() };
  return sumOwnTransfers(landed as unknown as VersionedTransactionResponse, whose);
}

describe("what an owner has transferred to itself on Solana", () => {
  it("is the sum of its own transfers, between its accounts and within one", () => {
    expect(sum(transfer(), transfer({ destination: ONE }))).to.equal(2000n);
    expect(sum()).to.equal(0n);
  });

  const others: Readonly<Record<string, Terms>> = {
    "from somebody else's account": { source: THEIRS },
    "to somebody else's account": { destination: THEIRS },
    "to an account for another token": { destination: FOREIGN },
    "by somebody else's signature": { authority: OTHER },
    "of another program": { program: makeKey() },
    "with the data of another instruction": { bytes: 9 },
  };
  for (const [what, terms] of Object.entries(others))
    it(`is no transfer ${what}`, () => {
      expect(sum(transfer(), transfer(terms))).to.equal(1000n);
    });
});
