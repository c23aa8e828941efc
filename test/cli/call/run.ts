import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { type CallOptions, runCall } from "../../../runtime/cli/call/call.ts";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import type { Env } from "../../../runtime/cli/config/reader.ts";
import type { Seller } from "./seller.ts";

/** The result of one `payphone call`. */
export interface Run {
  readonly code: number;
  readonly out: string;
  /** Without colours. */
  readonly err: string;
}

/** The default options of `payphone call` in tests. */
const OPTIONS: CallOptions = {
  service: "roll",
  input: '{"low":1,"high":6}',
  url: undefined,
  method: undefined,
  rail: undefined,
  limits: { usd: "1", jpy: "200" },
  dryRun: false,
  json: false,
  follow: false,
  waitSeconds: 10,
  resume: undefined,
  dir: join(import.meta.dirname, "../../.."),
};

/** Runs `payphone call` in this process. `heard` is called with each line of standard error. */
export async function run(
  options: Partial<CallOptions>,
  {
    env = {},
    signal = new AbortController().signal,
    heard = () => {},
  }: { env?: Env; signal?: AbortSignal; heard?: (line: string) => void } = {},
): Promise<Run> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCall(
    readConfig(env),
    { ...OPTIONS, ...options },
    {
      out: (text) => void out.push(text),
      err: (text) => {
        const plain = stripVTControlCharacters(text);
        err.push(plain);
        heard(plain);
      },
      signal,
    },
  );
  return { code, out: out.join("\n"), err: err.join("\n") };
}

/** Runs a call that must end with this exit code and pay nothing. Answers what it says last. */
export async function runRefused(
  seller: Seller,
  exitCode: number,
  options: Partial<CallOptions>,
  env: Env = {},
): Promise<string> {
  const { code, out, err } = await run({ url: seller.url, ...options }, { env });
  expect(code, err).to.equal(exitCode);
  expect(out).to.equal("");
  expect(seller.paid()).to.deep.equal([]);
  return err.slice(err.lastIndexOf("payphone: "));
}
