import type { FieldKind, Layout } from "./layouts.ts";

/** The rows below: tag, type, accounts (a text with spaces between), fields. */
const layout = (
  tag: string,
  type: string,
  accounts = "",
  fields: Readonly<Record<string, FieldKind>> = {},
): Layout => ({ tag, type, accounts: accounts.split(" ").filter((name) => name !== ""), fields });

/** The System program's, with the names that a node's `jsonParsed` has (as in all tables here). */
export const SYSTEM: readonly Layout[] = [
  layout("00000000", "createAccount", "source newAccount", { lamports: "u64", space: "u64", owner: "key" }),
  layout("01000000", "assign", "account", { owner: "key" }),
  layout("02000000", "transfer", "source destination", { lamports: "u64" }),
  layout("03000000", "createAccountWithSeed", "source newAccount", {
    ...{ base: "key", seed: "text", lamports: "u64", space: "u64", owner: "key" },
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
    ...{ lamports: "u64", sourceSeed: "text", sourceOwner: "key" },
  }),
];

/** The Token program's, which Token-2022 has taken over. */
export const TOKEN: readonly Layout[] = [
  layout("00", "initializeMint", "mint rentSysvar", {
    ...{ decimals: "u8", mintAuthority: "key", freezeAuthority: "optionalKey" },
  }),
  layout("01", "initializeAccount", "account mint owner rentSysvar"),
  layout("03", "transfer", "source destination authority", { amount: "u64" }),
  layout("04", "approve", "source delegate owner", { amount: "u64" }),
  layout("05", "revoke", "source owner"),
  layout("06", "setAuthority", "account authority", { authorityType: "authorityType", newAuthority: "optionalKey" }),
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
  layout("14", "initializeMint2", "mint", {
    ...{ decimals: "u8", mintAuthority: "key", freezeAuthority: "optionalKey" },
  }),
  layout("15", "getAccountDataSize", "mint"),
  layout("16", "initializeImmutableOwner", "account"),
  layout("1a01", "transferCheckedWithFee", "source mint destination authority", {
    ...{ amount: "u64", decimals: "u8", feeAmount: "u64" },
  }),
];

const ASSOCIATED_ACCOUNTS = "source account wallet mint systemProgram tokenProgram";

/** The Associated Token Account program's. */
export const ASSOCIATED_TOKEN: readonly Layout[] = [
  layout("00", "create", ASSOCIATED_ACCOUNTS),
  layout("01", "createIdempotent", ASSOCIATED_ACCOUNTS),
  layout("02", "recoverNested", "nestedSource nestedMint destination nestedOwner ownerMint wallet tokenProgram"),
];

/** The Memo program's: text, and nothing else. */
export const MEMO: readonly Layout[] = [layout("", "memo", "", { memo: "rest" })];

/** The Compute Budget program's. Micro-lamports are the price of one compute unit. */
export const COMPUTE_BUDGET: readonly Layout[] = [
  layout("01", "requestHeapFrame", "", { bytes: "u32" }),
  layout("02", "setComputeUnitLimit", "", { units: "u32" }),
  layout("03", "setComputeUnitPrice", "", { microLamports: "u64" }),
  layout("04", "setLoadedAccountsDataSizeLimit", "", { bytes: "u32" }),
];

/** Those of the Stake program that move stake. */
export const STAKE: readonly Layout[] = [
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
