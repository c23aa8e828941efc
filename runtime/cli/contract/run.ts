import { styleText } from "node:util";
import { Problem } from "../../api/problem.ts";
import { printableLines } from "../printable.ts";
import { complaintOf } from "../record/complaint.ts";
import { collectRejections, type LeftRejection } from "../set/plugins/watch-exit.ts";
import { type ContractExample, openShop, type TestShopOptions } from "./contract.ts";

/** The command line of `payphone test`. */
export interface TestCommand extends TestShopOptions {
  /** Run only the examples of these services; when empty, all. */
  readonly services: readonly string[];
  readonly print: (line: string) => void;
}

/**
 * Runs the examples of a shop one after the other. @returns whether all passed.
 * @throws Problem `bad-request` with every fault of the set, or for a service that has no example.
 */
export async function runTest({ services, print, ...options }: TestCommand): Promise<boolean> {
  const shop = await openShop(options);
  try {
    const examples = choose(shop.examples, services);
    const failed: string[] = [];
    for (const example of examples) {
      const { value, rejections } = await collectRejections(() => complaintOf(() => shop.run(example)));
      const complaint = value ?? (await toLeft(rejections));
      print(toLine(example, complaint));
      if (complaint !== undefined) failed.push(example.title);
    }
    print(`${examples.length - failed.length} of ${examples.length} examples came true`);
    return failed.length === 0;
  } finally {
    await shop.close();
  }
}

/** What a handler has begun and does not await: a server would go on, and log it. */
async function toLeft([first]: readonly LeftRejection[]): Promise<string | undefined> {
  if (!first) return undefined;
  const why = await complaintOf(() => Promise.reject(first.error));
  return `a promise that nothing catches is rejected: ${why}`;
}

function choose(examples: readonly ContractExample[], services: readonly string[]): readonly ContractExample[] {
  const known = new Set(examples.map(({ service }) => service));
  const unknown = services.find((service) => !known.has(service));
  if (unknown !== undefined) {
    const right = `the services with examples are ${[...known].join(", ") || "none"}`;
    throw new Problem("bad-request", `No manifest has an example of "${unknown}": ${right}`);
  }
  return services.length === 0 ? examples : examples.filter(({ service }) => services.includes(service));
}

const toLine = ({ title }: ContractExample, complaint: string | undefined): string =>
  complaint === undefined
    ? `${styleText("green", "ok")}    ${title}`
    : `${styleText("red", "fails")} ${title}\n${printableLines(complaint).replaceAll(/^|(?<=\n)/g, "      ")}`;
