import { readFileSync } from "node:fs";
import builtin from "./registry.json" with { type: "json" };

/** The purpose of a transfer: a paid call, or anything else. */
export type Category = "x402" | "other_transfer";

/** A service, or a seller of several services, that is paid at known addresses. */
export interface RegisteredService {
  readonly id: string;
  readonly label: string;
  readonly category: Category;
}

/** Maps recipients to services; versioned. */
export interface ServiceRegistry {
  readonly version: string;
  /** @param recipient in lower case. */
  find(recipient: string): RegisteredService | undefined;
}

/** The file's shape (schemas/Registry.json). */
interface RegistryFile {
  readonly version: string;
  readonly services: readonly {
    readonly id: string;
    readonly label: string;
    readonly category?: Category;
    readonly recipients: readonly string[];
  }[];
}

/** This site as a paid service. */
export interface OwnService {
  readonly id: string;
  readonly label: string;
  /** Undefined when no address is configured. */
  readonly recipient: string | undefined;
}

/**
 * Loads the built-in registry, or the file at `path` in its place, and adds this site. The site's address becomes part of
 * the version, unless the registry already lists it. @throws Error with the path when the file is not a registry.
 */
export function loadRegistry(path: string | undefined, own: OwnService): ServiceRegistry {
  const { version, services } = path === undefined ? (builtin as RegistryFile) : readRegistry(path);
  const byRecipient = new Map<string, RegisteredService>();
  for (const { id, label, category = "x402", recipients } of services) {
    const service: RegisteredService = { id, label, category };
    for (const recipient of recipients) byRecipient.set(recipient.toLowerCase(), service);
  }
  const find: ServiceRegistry["find"] = (recipient) => byRecipient.get(recipient);
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
