import { base58 } from "@scure/base";
import {
  AddressLookupTableProgram,
  BPF_LOADER_DEPRECATED_PROGRAM_ID,
  BPF_LOADER_PROGRAM_ID,
  ComputeBudgetProgram,
  Ed25519Program,
  Keypair,
  type PublicKey,
  Secp256k1Program,
  StakeProgram,
  SystemProgram,
  type TransactionInstruction,
  VALIDATOR_INFO_KEY,
  VoteProgram,
} from "@solana/web3.js";
import { expect } from "chai";
import fc from "fast-check";
import { parseInstruction } from "../../../plugins/transaction/programs.ts";

const SPL_TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";

const read = ({ programId, keys, data }: TransactionInstruction): ReturnType<typeof parseInstruction> =>
  parseInstruction(
    programId.toBase58(),
    keys.map(({ pubkey }) => pubkey.toBase58()),
    base58.encode(data),
  );
describe("an instruction of a built-in program", () => {
  const [a, b, c, d] = Array.from({ length: 4 }, () => Keypair.generate().publicKey) as [
    PublicKey,
    PublicKey,
    PublicKey,
    PublicKey,
  ];
  const [A, B, C, D] = [a.toBase58(), b.toBase58(), c.toBase58(), d.toBase58()];
  const made: Record<string, { by: (lamports: number) => TransactionInstruction; info: object }> = {
    "system createAccount": {
      by: (lamports) =>
        SystemProgram.createAccount({ fromPubkey: a, newAccountPubkey: b, lamports, space: 165, programId: c }),
      info: { source: A, newAccount: B, space: "165", owner: C },
    },
    "system createAccountWithSeed": {
      by: (lamports) =>
        SystemProgram.createAccountWithSeed({
          fromPubkey: a,
          newAccountPubkey: b,
          basePubkey: c,
          seed: "säd",
          lamports,
          space: 8,
          programId: d,
        }),
      info: { source: A, newAccount: B, base: C, seed: "säd", space: "8", owner: D },
    },
    "system transfer": {
      by: (lamports) => SystemProgram.transfer({ fromPubkey: a, toPubkey: b, lamports }),
      info: { source: A, destination: B },
    },
    "system transferWithSeed": {
      by: (lamports) =>
        SystemProgram.transfer({
          fromPubkey: a,
          basePubkey: b,
          toPubkey: c,
          seed: "",
          lamports,
          programId: d,
        }),
      info: { source: A, sourceBase: B, destination: C, sourceSeed: "", sourceOwner: D },
    },
    "system withdrawFromNonce": {
      by: (lamports) =>
        SystemProgram.nonceWithdraw({ noncePubkey: a, authorizedPubkey: b, toPubkey: c, lamports }) as never,
      info: { nonceAccount: A, destination: C, nonceAuthority: B },
    },
    "stake split": {
      by: (lamports) =>
        StakeProgram.split({ stakePubkey: a, authorizedPubkey: b, splitStakePubkey: c, lamports }, 0).instructions.at(
          -1,
        ) as TransactionInstruction,
      info: { stakeAccount: A, newSplitAccount: C, stakeAuthority: B },
    },
    "stake withdraw": {
      by: (lamports) =>
        StakeProgram.withdraw({ stakePubkey: a, authorizedPubkey: b, toPubkey: c, lamports })
          .instructions[0] as TransactionInstruction,
      info: { stakeAccount: A, destination: C, withdrawAuthority: B },
    },
  };
  for (const [name, { by, info }] of Object.entries(made))
    it(`is read as it was made, whatever the amount: ${name}`, () => {
      const [program, type] = name.split(" ");
      fc.assert(
        fc.property(fc.maxSafeInteger(), (number) => {
          const lamports = Math.abs(number);
          const { program: named, parsed } = read(by(lamports));
          expect(named).to.equal(program);
          expect(parsed?.type).to.equal(type);
          expect(parsed?.info).to.include({ ...info, lamports: String(lamports) });
        }),
        { numRuns: 25 },
      );
    });

  const plain: Record<string, { of: TransactionInstruction; info: object }> = {
    "system assign": {
      of: SystemProgram.assign({ accountPubkey: a, programId: b }),
      info: { account: A, owner: B },
    },
    "system allocate": {
      of: SystemProgram.allocate({ accountPubkey: a, space: 99 }),
      info: { account: A, space: "99" },
    },
    "system advanceNonce": {
      of: SystemProgram.nonceAdvance({ noncePubkey: a, authorizedPubkey: b }),
      info: {
        nonceAccount: A,
        recentBlockhashesSysvar: "SysvarRecentB1ockHashes11111111111111111111",
        nonceAuthority: B,
      },
    },
    "compute-budget setComputeUnitLimit": {
      of: ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 }),
      info: { units: 1_400_000 },
    },
    "compute-budget setComputeUnitPrice": {
      of: ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 2n ** 64n - 1n }),
      info: { microLamports: "18446744073709551615" },
    },
    "compute-budget requestHeapFrame": {
      of: ComputeBudgetProgram.requestHeapFrame({ bytes: 65_536 }),
      info: { bytes: 65_536 },
    },
  };
  for (const [name, { of, info }] of Object.entries(plain))
    it(`is read as it was made: ${name}`, () => {
      const [program, type] = name.split(" ");
      expect(read(of)).to.deep.equal({ program, parsed: { type, info } });
    });

  it("is read as it was made: the life of a stake", () => {
    const stake = { stakePubkey: a, authorizedPubkey: b };
    const parts = [
      ...StakeProgram.delegate({ ...stake, votePubkey: c }).instructions,
      ...StakeProgram.deactivate(stake).instructions,
      ...StakeProgram.merge({ stakePubkey: a, authorizedPubkey: b, sourceStakePubKey: c }).instructions,
    ].map((instruction) => read(instruction).parsed);
    expect(parts.map((parsed) => parsed?.type)).to.deep.equal(["delegate", "deactivate", "merge"]);
    expect(parts[0]?.info).to.include({ stakeAccount: A, voteAccount: C, stakeAuthority: B });
    expect(parts[1]?.info).to.include({ stakeAccount: A, stakeAuthority: B });
    expect(parts[2]?.info).to.include({ destination: A, source: C, stakeAuthority: B });
  });

  it("has its program's name where nothing of it can be read", () => {
    const programs = {
      vote: VoteProgram.programId,
      "address-lookup-table": AddressLookupTableProgram.programId,
      ed25519: Ed25519Program.programId,
      secp256k1: Secp256k1Program.programId,
      "bpf-loader": BPF_LOADER_PROGRAM_ID,
      "bpf-loader-deprecated": BPF_LOADER_DEPRECATED_PROGRAM_ID,
    };
    for (const [name, programId] of Object.entries(programs))
      expect(parseInstruction(programId.toBase58(), [A], "37u9WtQpcm6ULa3")).to.deep.equal({
        program: name,
        parsed: null,
      });
  });

  it("has no name where the program is anybody's", () => {
    for (const programId of [VALIDATOR_INFO_KEY.toBase58(), "constructor", ""])
      expect(parseInstruction(programId, [], "")).to.deep.equal({ program: null, parsed: null });
  });
});

describe("any bytes for a known program", () => {
  it("are read as a memo only when they are UTF-8", () => {
    const memo = (bytes: Uint8Array): unknown => parseInstruction(MEMO, [], base58.encode(bytes)).parsed;
    expect(memo(Buffer.from("grüße"))).to.deep.equal({ type: "memo", info: { memo: "grüße" } });
    expect(memo(Buffer.alloc(0))).to.deep.equal({ type: "memo", info: { memo: "" } });
    expect(memo(Buffer.from([0xc3, 0x28]))).to.equal(null);
  });

  it("are left alone when they are longer than base58 can decode in little time", () => {
    const memo = (length: number): unknown => parseInstruction(MEMO, [], "1".repeat(length)).parsed;
    expect(memo(4096)).not.to.equal(null);
    expect(memo(4097)).to.equal(null);
  });

  it("never make the reader fail", () => {
    const programs = [SystemProgram, StakeProgram, ComputeBudgetProgram].map(({ programId }) => programId.toBase58());
    fc.assert(
      fc.property(
        fc.constantFrom(...programs, SPL_TOKEN, MEMO, "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
        fc.oneof(
          fc.uint8Array({ maxLength: 120 }),
          fc
            .tuple(fc.nat({ max: 12 }), fc.uint8Array({ maxLength: 120 }))
            .map(([tag, rest]) => [tag, 0, 0, 0, ...rest]),
        ),
        (programId, bytes) => {
          const { program, parsed } = parseInstruction(programId, ["x", "y"], base58.encode(Uint8Array.from(bytes)));
          expect(program).to.be.a("string");
          if (parsed) expect(Object.values(parsed.info)).not.to.include(undefined);
        },
      ),
      { numRuns: 500 },
    );
  });
});
