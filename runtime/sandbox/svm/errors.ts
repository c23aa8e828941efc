import type { FailedTransactionMetadata } from "litesvm";

/** Why a transaction failed, in the JSON of Solana's RPC: `"BlockhashNotFound"`, `{ InstructionError: [2, { Custom: 1 }] }`. */
export type TransactionError = string | Readonly<Record<string, unknown>>;

/** Translates litesvm's error, which has numbers where the RPC has names. */
export function toTransactionError(error: ReturnType<FailedTransactionMetadata["err"]>): TransactionError {
  if (typeof error === "number") return TRANSACTION_ERRORS[error] ?? "SanitizeFailure";
  if ("accountIndex" in error) return { InsufficientFundsForRent: { account_index: error.accountIndex } };
  if (!("err" in error)) return { DuplicateInstruction: error.index };
  const inner = error.err();
  if (typeof inner === "number") return { InstructionError: [error.index, INSTRUCTION_ERRORS[inner]] };
  return { InstructionError: [error.index, "code" in inner ? { Custom: inner.code } : "BorshIoError"] };
}

/** Whether the chain keeps a transaction that failed with this error and takes its fee. Others leave no trace. */
export const isIncluded = (error: TransactionError): boolean => typeof error === "object";

/** The message of a Solana node for an error. */
export function toSentence(error: TransactionError): string {
  if (typeof error === "string") return SENTENCES[error] ?? error;
  const [index, reason] = (error.InstructionError ?? []) as [number?, (string | { Custom: number })?];
  if (reason === undefined) return JSON.stringify(error);
  const why = typeof reason === "string" ? reason : `custom program error: 0x${reason.Custom.toString(16)}`;
  return `Error processing Instruction ${index}: ${why}`;
}

const SENTENCES: Readonly<Record<string, string>> = {
  AccountNotFound: "Attempt to debit an account but found no record of a prior credit.",
  AlreadyProcessed: "This transaction has already been processed",
  BlockhashNotFound: "Blockhash not found",
  InsufficientFundsForFee: "Insufficient funds for fee",
  SignatureFailure: "Transaction did not pass signature verification",
};

/** In the order of litesvm's TransactionErrorFieldless. */
const TRANSACTION_ERRORS =
  "AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit UnsupportedVersion InvalidWritableAccount WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit TooManyAccountLocks AddressLookupTableNotFound InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex InvalidRentPayingAccount WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction ProgramCacheHitMaxLimit CommitCancelled".split(
    " ",
  );

/** In the order of litesvm's InstructionErrorFieldless. */
const INSTRUCTION_ERRORS =
  "GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount UnbalancedInstruction ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified DuplicateAccountIndex ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar IllegalOwner MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded BuiltinProgramsMustConsumeComputeUnits BorshIoError".split(
    " ",
  );
