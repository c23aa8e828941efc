import { createHash } from "node:crypto";
import type { Plugins, Treasury } from "#plugin";

/** The part of a report that the treasury signs. */
export interface ReportStatement {
  /** EIP-55 checksummed. */
  readonly wallet: string;
  readonly range: { readonly from: string; readonly to: string };
  readonly report_sha256: string;
  readonly csv_sha256: string | null;
  readonly registry_version: string;
}

/** The deliverable's signature. */
export type ReportSignature = Plugins["ledger"]["report"]["output"]["signature"];

/** Signs seven lines of UTF-8 (joined by `\n`, none at the end) with EIP-191 `personal_sign`. @param siteName the first part of the domain. */
export async function sign(statement: ReportStatement, siteName: string, treasury: Treasury): Promise<ReportSignature> {
  const { wallet, range, report_sha256, csv_sha256, registry_version } = statement;
  const domain = `${siteName}/ledger/v1`;
  const message = [
    domain,
    `wallet=${wallet}`,
    `from=${range.from}`,
    `to=${range.to}`,
    `report=${report_sha256}`,
    `csv=${csv_sha256 ?? "none"}`,
    `registry=${registry_version}`,
  ].join("\n");
  const [signer, value] = await Promise.all([treasury.evmAddress(), treasury.signMessage(message)]);
  return { signer, scheme: "eip191", domain, value, message };
}

/** SHA-256 of a text's UTF-8 bytes, 64 hex characters. */
export const toSha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
