import { ATTACKS, type Finding, type Target } from "./attacks.ts";

/** One seller's findings, in the order of the attacks. */
export interface Column {
  readonly seller: string;
  readonly findings: readonly Finding[];
}

/** Runs every attack against one seller, one after the other. An attack that cannot be carried out is a finding, too. */
export async function runBattery(seller: string, target: Target, onFinding?: (title: string) => void): Promise<Column> {
  const findings: Finding[] = [];
  for (const { title, run } of ATTACKS) {
    const finding = await run(target).catch(
      (error: unknown): Finding => ({ verdict: "not tried", happened: (error as Error).message }),
    );
    findings.push(finding);
    onFinding?.(`${seller}: ${title}: ${toCell(finding)}`);
  }
  return { seller, findings };
}

/** A Markdown table: one row for each attack, one column for each seller. */
export function toTable(columns: readonly Column[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    row(["Attack", ...columns.map(({ seller }) => seller)]),
    row(["---", ...columns.map(() => "---")]),
    ...ATTACKS.map(({ title }, at) => row([title, ...columns.map(({ findings }) => toCell(findings[at]))])),
  ].join("\n");
}

const toCell = (finding: Finding | undefined): string =>
  finding ? `${finding.verdict === "broken" ? "**broken**" : finding.verdict}: ${finding.happened}` : "";
