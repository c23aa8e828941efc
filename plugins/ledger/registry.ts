import { readFileSync } from "node:fs";
import builtin from "./registry.json" with { type: "json" };

/** What a transfer is for: a call of a service, or anything else. */
export type Category = "x402" | "other_transfer";

/** A service, or a seller of several, by the addresses that it is paid at. */
export interface RegistryService {
  readonly id: string;
  readonly label: string;
  readonly category: Category;
}

/** Who receives USDC at which address, in one version. */
export interface Registry {
  readonly version: string;
  /** @param recipient in lower case. */
  find(recipient: string): RegistryService | undefined;
}

/** The file's shape, as `schemas/Registry.json` describes it. */
interface RegistryFile {
  readonly version: string;
  readonly services: readonly {
    readonly id: string;
    readonly label: string;
    readonly category?: Category;
    readonly recipients: readonly string[];
  }[];
}

/** The site itself, which is paid like any other. */
export interface OwnService {
  readonly id: string;
  readonly label: string;
  /** Undefined where no address is configured. */
  readonly recipient: string | undefined;
}

/**
 * The registry that comes with the plugin, or the one in a file in its place; and the site itself, whose address is then
 * part of the version, unless the registry names it already.
 * @throws Error that names the file when it cannot be read or is no registry.
 */
export function loadRegistry(path: string | undefined, own: OwnService): Registry {
  const { version, services } = path === undefined ? (builtin as RegistryFile) : readRegistry(path);
  const byRecipient = new Map<string, RegistryService>();
  for (const { id, label, category = "x402", recipients } of services) {
    const service: RegistryService = { id, label, category };
    for (const recipient of recipients) byRecipient.set(recipient.toLowerCase(), service);
  }
  const find: Registry["find"] = (recipient) => byRecipient.get(recipient);
  const recipient = own.recipient?.toLowerCase();
  if (recipient === undefined || byRecipient.has(recipient)) return { version, find };
  byRecipient.set(recipient, { id: own.id, label: own.label, category: "x402" });
  return { version: `${version}+${recipient.slice(2, 10)}`, find };
}

function readRegistry(path: string): RegistryFile {
  try {
    const file: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (isRegistry(file)) return file;
  } catch (cause) {
    throw new Error(`LEDGER_REGISTRY names ${path}, which cannot be read as JSON`, { cause });
  }
  throw new Error(`LEDGER_REGISTRY names ${path}, which is no registry: make one with "payphone registry import"`);
}

function isRegistry(file: unknown): file is RegistryFile {
  const { version, services } = (file ?? {}) as Partial<RegistryFile>;
  return (
    typeof version === "string" &&
    /^[\w.-]{1,64}$/.test(version) &&
    Array.isArray(services) &&
    services.every(isService)
  );
}

function isService(service: unknown): boolean {
  const { id, label, category = "x402", recipients } = (service ?? {}) as Record<string, unknown>;
  return (
    typeof id === "string" &&
    typeof label === "string" &&
    (category === "x402" || category === "other_transfer") &&
    Array.isArray(recipients) &&
    recipients.every((recipient) => /^0x[0-9a-f]{40}$/i.test(String(recipient)))
  );
}
