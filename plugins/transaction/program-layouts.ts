import type { FieldKind, InstructionLayout } from "./layouts.ts";

/** @param accounts names, separated by spaces. */
const layout = (
  tag: string,
  type: string,
  accounts: string,
  fields: Readonly<Record<string, FieldKind>> = {},
): InstructionLayout => ({ tag, type, accounts: accounts.split(" ").filter((name) => name !== ""), fields });

/** The System program. All tables here use the names of a node's `jsonParsed`. */
export const SYSTEM: readonly InstructionLayout[] = [
  layout("00000000", "createAccount", "source newAccount", { lamports: "u64", space: "u64", owner: "key" }),
  layout("01000000", "assign", "account", { owner: "key" }),
  layout("02000000", "transfer", "source destination", { lamports: "u64" }),
  layout("03000000", "createAccountWithSeed", "source newAccount", {
    base: "key",
    seed: "text",
    lamports: "u64",
    space: "u64",
    owner: "key",
  }),
  layout("04000000", "advanceNonce", "nonceAccount recentBlockhashesSysvar nonceAuthority"),
  layout(
    "05000000",
    "withdrawFromNonce",
    "nonceAccount destination recentBlockhashesSysvar rentSysvar nonceAuthority",
    {
      lamports: "u64",
    },
  ),
  layout("08000000", "allocate", "account", { space: "u64" }),
  layout("0b000000", "transferWithSeed", "source sourceBase destination", {
    lamports: "u64",
    sourceSeed: "text",
    sourceOwner: "key",
  }),
];

const AUTHORITY = { authorityType: "authorityType", newAuthority: "optionalKey" } as const;
/** The authorities that an account has; all others are of a mint. */
const [OWNER, CLOSER] = ["02", "03"];
const MINT = { decimals: "u8", mintAuthority: "key", freezeAuthority: "optionalKey" } as const;

/** The Token program. Token-2022 has the same instructions. */
export const SPL_TOKEN: readonly InstructionLayout[] = [
  layout("00", "initializeMint", "mint rentSysvar", MINT),
  layout("01", "initializeAccount", "account mint owner rentSysvar"),
  layout("03", "transfer", "source destination authority", { amount: "u64" }),
  layout("04", "approve", "source delegate owner", { amount: "u64" }),
  layout("05", "revoke", "source owner"),
  { ...layout("06", "setAuthority", "account authority", AUTHORITY), next: OWNER },
  { ...layout("06", "setAuthority", "account authority", AUTHORITY), next: CLOSER },
  layout("06", "setAuthority", "mint authority", AUTHORITY),
  layout("07", "mintTo", "mint account mintAuthority", { amount: "u64" }),
  layout("08", "burn", "account mint authority", { amount: "u64" }),
  layout("09", "closeAccount", "account destination owner"),
  layout("0a", "freezeAccount", "account mint freezeAuthority"),
  layout("0b", "thawAccount", "account mint freezeAuthority"),
  layout("0c", "transferChecked", "source mint destination authority", { amount: "u64", decimals: "u8" }),
  layout("0d", "approveChecked", "source mint delegate owner", { amount: "u64", decimals: "u8" }),
  layout("0e", "mintToChecked", "mint account mintAuthority", { amount: "u64", decimals: "u8" }),
  layout("0f", "burnChecked", "account mint authority", { amount: "u64", decimals: "u8" }),
  layout("10", "initializeAccount2", "account mint rentSysvar", { owner: "key" }),
  layout("11", "syncNative", "account"),
  layout("12", "initializeAccount3", "account mint", { owner: "key" }),
  layout("14", "initializeMint2", "mint", MINT),
  layout("15", "getAccountDataSize", "mint"),
  layout("16", "initializeImmutableOwner", "account"),
  layout("1a01", "transferCheckedWithFee", "source mint destination authority", {
    amount: "u64",
    decimals: "u8",
    feeAmount: "u64",
  }),
];

const ASSOCIATED_ACCOUNTS = "source account wallet mint systemProgram tokenProgram";

/** The Associated Token Account program. */
export const ASSOCIATED_TOKEN: readonly InstructionLayout[] = [
  layout("00", "create", ASSOCIATED_ACCOUNTS),
  layout("01", "createIdempotent", ASSOCIATED_ACCOUNTS),
  layout("02", "recoverNested", "nestedSource nestedMint destination nestedOwner ownerMint wallet tokenProgram"),
];

/** The Memo program: its data is text. */
export const MEMO: readonly InstructionLayout[] = [layout("", "memo", "", { memo: "rest" })];

/** The Compute Budget program. `microLamports` is the price of one compute unit. */
export const COMPUTE_BUDGET: readonly InstructionLayout[] = [
  layout("01", "requestHeapFrame", "", { bytes: "u32" }),
  layout("02", "setComputeUnitLimit", "", { units: "u32" }),
  layout("03", "setComputeUnitPrice", "", { microLamports: "u64" }),
  layout("04", "setLoadedAccountsDataSizeLimit", "", { bytes: "u32" }),
];

/** The Stake program's instructions that move stake. */
export const STAKE: readonly InstructionLayout[] = [
  layout(
    "02000000",
    "delegate",
    "stakeAccount voteAccount clockSysvar stakeHistorySysvar stakeConfigAccount stakeAuthority",
  ),
  layout("03000000", "split", "stakeAccount newSplitAccount stakeAuthority", { lamports: "u64" }),
  layout("04000000", "withdraw", "stakeAccount destination clockSysvar stakeHistorySysvar withdrawAuthority", {
    lamports: "u64",
  }),
  layout("05000000", "deactivate", "stakeAccount clockSysvar stakeAuthority"),
  layout("07000000", "merge", "destination source clockSysvar stakeHistorySysvar stakeAuthority"),
];
