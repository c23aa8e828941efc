import type { KeyObject } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { LlmEndpoint } from "../../drivers/llm/llm.ts";
import * as keys from "./key-values.ts";
import { createReader, type Env, type Reader } from "./reader.ts";
import { findOpenQuote, findStrayLines } from "./stray-lines.ts";
import * as shapes from "./values.ts";

/** The configuration, read once from the environment and checked. */
export interface Config {
  /**
   * All variables that are set. Manifests name some of them, for instance in a rail's `pay_to` and `rpc` and in a plugin's `needs`.
   */
  readonly env: Env;
  /** 0 = any free port. */
  readonly port: number;
  /** Loopback by default: the sandbox hands out keys, and a live server belongs behind a TLS proxy. */
  readonly host: string;
  /** Without a trailing slash. */
  readonly publicBaseUrl: string | undefined;
  /** Absolute. */
  readonly dataDir: string;
  readonly redisUrl: string | undefined;
  readonly logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** When undefined, the format depends on where the log is written. */
  readonly logFormat: "json" | "text" | undefined;
  /** Express's `trust proxy`; 0 = none. */
  readonly trustProxy: number | readonly string[];
  /** The listener for the operator's pages; closed unless ADMIN_PORT is set. */
  readonly admin: {
    readonly port: number | undefined;
    readonly host: string;
    /** When undefined, payphone generates a token and keeps it in the data directory. */
    readonly token: string | undefined;
    /** The header in which a proxy in front names the logged-in user; when undefined, no proxy is trusted. */
    readonly login: { readonly name: string; readonly from: readonly string[] } | undefined;
  };
  readonly anvilBin: string | undefined;
  readonly treasury: Keys;
  readonly facilitator: {
    readonly url: string | undefined;
    /** Sent with every request. */
    readonly headers: Readonly<Record<string, string>>;
    /** Coinbase's facilitator, whose headers are signed for each request. */
    readonly cdp: { readonly keyId: string; readonly keySecret: string } | undefined;
  };
  /** When undefined, services that use a language model answer 503. */
  readonly llm: LlmEndpoint | undefined;
  /** The OpenTelemetry collector that calls are traced to; when undefined, calls are not traced. */
  readonly collector:
    | { readonly endpoint: string; readonly headers: Readonly<Record<string, string>>; readonly service: string }
    | undefined;
  /**
   * Ed25519 keys of the agent's identity, the signing key first; when undefined, payphone generates and keeps its own.
   */
  readonly identityKeys: readonly KeyObject[] | undefined;
  /** The wallet of `payphone call`. */
  readonly buyer: Keys;
  /** The default seller of `payphone call`. */
  readonly sellerUrl: string;
}

/** Private keys: hex with 0x; base58 of 64 bytes. */
export interface Keys {
  readonly evmKey: Hex | undefined;
  readonly solanaKey: string | undefined;
}

/**
 * Reads the configuration from these variables and from the files that `…_FILE` variables name.
 * @throws Problem `bad-request` with one line for each fault; no line shows a secret.
 */
export function readConfig(env: Env, readFile?: (path: string) => string): Config {
  const { config, faults } = examineConfig(env, readFile);
  if (faults.length > 0) throw new Problem("bad-request", faults.join("\n"));
  return config;
}

/** Reads the configuration and all its faults. A variable with a fault counts as unset. */
export function examineConfig(
  env: Env,
  readFile: (path: string) => string = (path) => readFileSync(path, "utf8"),
): { readonly config: Config; readonly faults: readonly string[] } {
  const reader = createReader(env, readFile);
  const { value, secret } = reader;
  const config: Config = {
    env: Object.freeze(withoutEmpty(env)),
    port: value("PORT", shapes.PORT) ?? 4021,
    host: value("HOST", shapes.HOST) ?? "127.0.0.1",
    publicBaseUrl: value("PUBLIC_BASE_URL", shapes.BASE_URL),
    dataDir: resolve(value("PAYPHONE_DATA_DIR", shapes.FOLDER) ?? ".payphone"),
    redisUrl: secret("REDIS_URL", shapes.REDIS_URL),
    logLevel: value("LOG_LEVEL", shapes.LOG_LEVEL) ?? "info",
    logFormat: value("LOG_FORMAT", shapes.LOG_FORMAT),
    trustProxy: value("TRUST_PROXY", shapes.PROXIES) ?? 0,
    admin: {
      port: value("ADMIN_PORT", shapes.PORT),
      host: value("ADMIN_HOST", shapes.HOST) ?? "127.0.0.1",
      token: secret("ADMIN_TOKEN", keys.ADMIN_TOKEN),
      login: readLogin(reader),
    },
    anvilBin: value("ANVIL_BIN", ONE_LINE),
    treasury: readKeys("TREASURY", reader),
    facilitator: readFacilitator(reader),
    llm: readLlm(reader),
    collector: readCollector(reader),
    identityKeys: secret("A2A_IDENTITY_KEY", keys.IDENTITY_KEYS),
    buyer: readKeys("BUYER", reader),
    sellerUrl: value("PAYPHONE_URL", shapes.BASE_URL) ?? "http://127.0.0.1:4021",
  };
  return { config, faults: reader.faults };
}

/** An empty variable, as in a copy of `.env.example`, is none to plugins and sources either. */
const withoutEmpty = (env: Env): Env => Object.fromEntries(Object.entries(env).filter(([, text]) => text?.trim()));

/** The part of the configuration that the agent's identity needs. */
export type PeerConfig = Pick<Config, "dataDir" | "identityKeys" | "publicBaseUrl" | "redisUrl">;

/** The environment of this process. Nothing else reads it. */
export const loadEnv = (): Env => process.env;

/**
 * Adds a shop's own settings to this process's environment: its `.env` (or the given file), and its data directory.
 * Variables that are already set win; empty text counts as unset.
 * @throws Problem `bad-request` when the file cannot be read.
 */
export function enterShop(dir: string | undefined, envFile: string | undefined): void {
  const own = process.env.PAYPHONE_DATA_DIR?.trim();
  const given = envFile === undefined ? readShopVariables(dir, warn) : readVariables(envFile, warn);
  Object.assign(process.env, lackedBy(process.env, given));
  if (dir !== undefined) process.env.PAYPHONE_DATA_DIR = own || toDataDir(dir, process.env);
}

/** Those variables of a file that an environment lacks, or has as empty text only. */
export const lackedBy = (env: Env, file: Env): Env =>
  Object.fromEntries(Object.entries(file).filter(([name]) => !env[name]?.trim()));

/**
 * The variables in a shop's `.env`, if there is one. Its relative `…_FILE` names files of the shop, so that no command
 * reads the keys of another shop in which it is given.
 */
export function readShopVariables(dir: string | undefined, tell?: (text: string) => void): Env {
  if (dir === undefined || !existsSync(join(dir, ".env"))) return {};
  const toPlaced = ([name, value = ""]: [string, string | undefined]): [string, string] => [
    name,
    name.endsWith("_FILE") && value.trim() !== "" ? resolve(dir, value.trim()) : value,
  ];
  return Object.fromEntries(Object.entries(readVariables(join(dir, ".env"), tell)).map(toPlaced));
}

const warn = (text: string): void => console.error(`payphone: ${text}`);

/**
 * The variables in a file, which may begin with a byte order mark.
 * @param tell is told about each line that sets no variable; its text may be a secret.
 * @throws Problem `bad-request` that names the file.
 */
function readVariables(file: string, tell: (text: string) => void = () => {}): Env {
  try {
    const text = new TextDecoder().decode(readFileSync(file));
    if (text.includes("\0")) throw new Error("it is not UTF-8");
    const open = findOpenQuote(text);
    if (open !== undefined) throw new Error(`the quote in line ${open} is not closed before the next variables`);
    for (const line of findStrayLines(text)) tell(`line ${line} of ${file} sets no variable: write NAME=value`);
    return parseEnv(text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file; name one with lines like NAME=value" : message;
    throw new Problem("bad-request", `The variables of ${file} cannot be read: ${why}`);
  }
}

/** The data directory that a shop's own file of variables names: a relative one is in the shop's folder. */
export const toDataDir = (dir: string, { PAYPHONE_DATA_DIR: named }: Env): string =>
  resolve(dir, named?.trim() || ".payphone");

export const loadConfig = (): Config => readConfig(loadEnv());

function readKeys(owner: "TREASURY" | "BUYER", { secret }: Reader): Keys {
  return {
    evmKey: secret(`${owner}_EVM_KEY`, keys.EVM_KEY),
    solanaKey: secret(`${owner}_SOLANA_KEY`, keys.SOLANA_KEY),
  };
}

function readLogin({ fault, isSet, value }: Reader): Config["admin"]["login"] {
  const name = value("ADMIN_LOGIN_HEADER", shapes.HEADER_NAME);
  const from = value("ADMIN_LOGIN_FROM", shapes.ADDRESSES);
  if (isSet("ADMIN_LOGIN_HEADER") !== isSet("ADMIN_LOGIN_FROM"))
    fault(
      "ADMIN_LOGIN_HEADER and ADMIN_LOGIN_FROM belong together: the header is trusted from the proxies that are named",
    );
  return name && from ? { name, from } : undefined;
}

function readFacilitator({ fault, isSet, value, secret }: Reader): Config["facilitator"] {
  const keyId = value("CDP_API_KEY_ID", keys.CDP_KEY_ID);
  const keySecret = secret("CDP_API_KEY_SECRET", keys.CDP_KEY_SECRET);
  const [has, lacks] = isSet("CDP_API_KEY_ID") ? ["ID", "SECRET"] : ["SECRET", "ID"];
  if (isSet(`CDP_API_KEY_${has}`) && !isSet(`CDP_API_KEY_${lacks}`))
    fault(`CDP_API_KEY_${has} is set without CDP_API_KEY_${lacks}: set both or neither`);
  if (isSet("FACILITATOR_HEADERS") && isSet("CDP_API_KEY_ID"))
    fault("FACILITATOR_HEADERS and CDP_API_KEY_ID are both set: keep one way to sign in");
  return {
    url: value("FACILITATOR_URL", shapes.WEB_URL),
    headers: secret("FACILITATOR_HEADERS", shapes.HEADERS) ?? {},
    cdp: keyId && keySecret ? { keyId, keySecret } : undefined,
  };
}

function readCollector({ value }: Reader): Config["collector"] {
  const endpoint = value("OTEL_EXPORTER_OTLP_ENDPOINT", shapes.WEB_URL);
  const headers = value("OTEL_EXPORTER_OTLP_HEADERS", shapes.OTLP_HEADERS) ?? {};
  const service = value("OTEL_SERVICE_NAME", ONE_LINE) ?? "payphone";
  return endpoint === undefined ? undefined : { endpoint, headers, service };
}

/** Any text. Further lines may be other variables, and these texts are sent to others. */
const ONE_LINE: shapes.ValueFormat<string> = {
  right: "a text of one line",
  parse: (text) => (/[\r\n]/.test(text) ? undefined : text),
};

function readLlm({ fault, text, value, secret }: Reader): LlmEndpoint | undefined {
  const baseUrl = value("LLM_BASE_URL", shapes.WEB_URL);
  const model = value("LLM_MODEL", ONE_LINE);
  const fallbackModel = value("LLM_FALLBACK_MODEL", ONE_LINE);
  const rest = { apiKey: secret("LLM_API_KEY", keys.TOKEN), fallbackModel };
  if (text("LLM_BASE_URL") && !text("LLM_MODEL")) fault("LLM_BASE_URL is set without LLM_MODEL: name the model to ask");
  if (text("LLM_MODEL") && !text("LLM_BASE_URL"))
    fault("LLM_MODEL is set without LLM_BASE_URL: set the endpoint, like https://api.openai.com/v1");
  return baseUrl && model ? { baseUrl, model, ...rest } : undefined;
}
