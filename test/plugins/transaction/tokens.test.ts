import { base58 } from "@scure/base";
import { expect } from "chai";
import { parseInstruction } from "../../../plugins/transaction/programs.ts";

const SPL_TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

const readToken = (hex: string, ...accounts: string[]): ReturnType<typeof parseInstruction>["parsed"] =>
  parseInstruction(SPL_TOKEN, accounts, base58.encode(Buffer.from(hex, "hex"))).parsed;

describe("an instruction of the Token program", () => {
  it("says whose hand an authority passes into, or that it is given up", () => {
    const key = "22".repeat(32);
    const newAuthority = base58.encode(Buffer.from(key, "hex"));
    expect(readToken(`060201${key}`, "account", "owner")).to.deep.equal({
      type: "setAuthority",
      info: { account: "account", authority: "owner", authorityType: "accountOwner", newAuthority },
    });
    expect(readToken("060000", "mint", "owner")?.info).to.include({ authorityType: "mintTokens", newAuthority: null });
    expect(readToken("060800", "mint", "owner")?.info).to.include({ authorityType: 8 });
  });

  it("says of which mint or account an authority is changed", () => {
    for (const [type, named] of [
      ["00", "mint"],
      ["01", "mint"],
      ["02", "account"],
      ["03", "account"],
      ["04", "mint"],
      ["08", "mint"],
    ] as const)
      expect(Object.keys(readToken(`06${type}00`, "it", "owner")?.info ?? {})[0], type).to.equal(named);
  });

  it("names the accounts that there are, and only those", () => {
    const amount = "0100000000000000";
    expect(readToken(`03${amount}`)?.info).to.deep.equal({ amount: "1" });
    expect(readToken(`03${amount}`, "a", "b", "multisig", "signer 1", "signer 2")?.info).to.deep.equal({
      source: "a",
      destination: "b",
      authority: "multisig",
      amount: "1",
    });
  });

  it("is read also with bytes after its end, as the program itself does", () => {
    expect(readToken("0301000000000000000badc0de", "a", "b", "c")?.info).to.include({ amount: "1" });
  });

  it("is not read when bytes are missing", () => {
    for (const hex of ["", "03", "0301", "03010000000000", "0c0100000000000000", "0602", "060201ff", "1a", "ff"])
      expect(readToken(hex, "a", "b", "c"), hex).to.equal(null);
  });

  it("tells extensions of Token-2022 apart that begin alike", () => {
    const withFee = readToken("1a010100000000000000060200000000000000", "s", "m", "d", "o");
    expect(withFee).to.deep.equal({
      type: "transferCheckedWithFee",
      info: { source: "s", mint: "m", destination: "d", authority: "o", amount: "1", decimals: 6, feeAmount: "2" },
    });
    expect(readToken("1a020100000000000000", "s")).to.equal(null);
  });
});
