import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { appendFile, readdir, readFile, rm, truncate } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { promisify } from "node:util";
import siteSchema from "../../../schemas/site.json" with { type: "json" };
import { Problem } from "../../api/problem.ts";
import { GRAMMARS } from "../../core/set/grammar.ts";
import { makeFolder } from "../../drivers/folder.ts";
import { writeTypes } from "../set/types.ts";
import { userName } from "../user.ts";
import { toSource } from "./source.ts";
import { fillTemplate } from "./template.ts";

/** The command line of `payphone init`. */
export interface InitCommand {
  /** The folder of the new shop; its name becomes the site's. */
  readonly dir: string;
  /** The seller. Default: asked on a terminal, otherwise git's user or this machine's. */
  readonly owner?: string | undefined;
  /** The owner's contact for buyers. */
  readonly url?: string | undefined;
  /** Whether buyers pay on test networks. */
  readonly testnet?: boolean;
}

/**
 * Writes a new shop that sells one service. @returns what to do next. @throws Problem `bad-request`; nothing is written
 * then.
 */
export async function runInit({ dir, owner, url, testnet = false }: InitCommand): Promise<string> {
  const shop = resolve(dir);
  const name = basename(shop);
  refuseName(name);
  await refuseFull(shop, dir || ".");
  const answers = await ask([
    { question: "Who sells?", given: owner, usual: await findOwner() },
    { question: "Where can buyers reach you?", given: url, usual: `https://example.com/${name}` },
  ]);
  const [seller = "", contact = ""] = answers.map((answer) => answer.trim());
  refuseOwner(seller);
  const complaint = GRAMMARS["public-url"]?.explain(contact);
  if (complaint !== undefined) throw new Problem("bad-request", `The address "${contact}": ${complaint}`);
  const blanks = { name, title: toTitle(name), owner: JSON.stringify(seller), contact: JSON.stringify(contact) };
  await writeAll(shop, fillTemplate({ ...blanks, payphone: JSON.stringify(toSource(shop)) }, testnet));
  return toNextSteps(relative(process.cwd(), shop) || ".");
}

function refuseName(name: string): void {
  if (!GRAMMARS.word?.explain(name) && name.length <= 32) return;
  const right = "at most 32 lower-case letters, digits and single dashes, like my-shop";
  throw new Problem("bad-request", `"${name}" cannot be a shop's name: it must be ${right}`);
}

function refuseOwner(owner: string): void {
  const most = siteSchema.properties.contact.properties.name.maxLength;
  if (owner !== "" && owner.length <= most) return;
  throw new Problem("bad-request", `Name the owner in 1 to ${most} characters: --owner "Ada Lovelace"`);
}

/** Files of a new repository, beside which a shop can be written. */
const OF_REPOSITORIES =
  /^(?:\.git|\.gitattributes|\.gitignore|\.github|\.editorconfig|\.idea|\.vscode|\.DS_Store|README\.md|LICEN[CS]E(?:\.(?:md|txt))?)$/;
/** Files that are extended and not overwritten. */
const KEPT = [".gitignore", "README.md"];

async function refuseFull(shop: string, dir: string): Promise<void> {
  const inside = await readdir(shop).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new Problem("bad-request", `${dir} cannot be a shop's folder (${error.code}): name a new one`);
  });
  const found = inside.find((name) => !OF_REPOSITORIES.test(name));
  if (found === undefined) return;
  throw new Problem("bad-request", `${dir} is not empty (${found}): name a folder that does not exist yet`);
}

interface Question {
  readonly question: string;
  readonly given: string | undefined;
  /** The default answer. */
  readonly usual: string;
}

/** Asks on a terminal for missing values; elsewhere the default answers are used. @throws Problem at Ctrl-C and Ctrl-D. */
async function ask(questions: readonly Question[]): Promise<readonly string[]> {
  if (!process.stdin.isTTY) return questions.map(({ given, usual }) => given ?? usual);
  const dialogue = createInterface({ input: process.stdin, output: process.stderr });
  const ended = once(dialogue, "close");
  const answers: string[] = [];
  for (const { question, given, usual } of questions) {
    const asked = given === undefined && Promise.race([dialogue.question(`${question} (${usual}) `), ended]);
    const answer = asked ? await asked.catch(() => undefined) : given;
    if (typeof answer !== "string") throw new Problem("bad-request", "Interrupted: no shop was made");
    answers.push(asked ? answer.trim() || usual : answer);
  }
  dialogue.close();
  return answers;
}

/** The name in git's configuration, or this machine's user. */
async function findOwner(): Promise<string> {
  const { stdout } = await promisify(execFile)("git", ["config", "user.name"]).catch(() => ({ stdout: "" }));
  return stdout.trim() || userName();
}

/** Writes all files or none. Texts that are there are extended. */
async function writeAll(shop: string, files: ReadonlyMap<string, string>): Promise<void> {
  const there = await readdir(shop).catch(() => undefined);
  const extended = new Map<string, number>(); // Their bytes before.
  try {
    for (const [file, text] of files) {
      const path = join(shop, file);
      makeFolder(dirname(path));
      const own = KEPT.includes(file) && existsSync(path) ? await readFile(path) : "";
      if (own !== "") extended.set(path, own.length);
      await appendFile(path, own.length === 0 ? text : `${own.toString().endsWith("\n") ? "" : "\n"}\n${text}`);
    }
    await writeTypes(shop);
  } catch (error) {
    const made = there ? (await readdir(shop)).filter((name) => !there.includes(name)) : [""];
    for (const name of made) await rm(join(shop, name), { recursive: true, force: true });
    for (const [path, bytes] of extended) await truncate(path, bytes);
    throw error;
  }
}

/** `my-shop` becomes `My shop`. */
const toTitle = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");

/** Quoted where a shell would read it as more than one word. */
const inShell = (path: string): string =>
  /^[\p{L}\p{N}_./:@+-]+$/u.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

const toNextSteps = (folder: string): string =>
  [
    `${folder} is a shop with one service. Start it:`,
    "",
    ...(folder === "." ? [] : [`  cd ${inShell(folder)}`]),
    "  npm install",
    "  npm start",
    "",
    "README.md there says how to buy a call, and how to sell a service of your own.",
  ].join("\n");
