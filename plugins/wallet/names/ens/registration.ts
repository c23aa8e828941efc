import type { Client } from "viem";
import { findResolver } from "./records.ts";

/** Whether a .eth name is registered. */
export interface Registration {
  readonly isHeld: boolean;
  /** A warning or an explanation for the caller. */
  readonly note?: string;
}

const HELD: Registration = { isHeld: true };
const NOBODY = "0x0000000000000000000000000000000000000000";
const REGISTRY = "0x00000000000C2E074eC69A0dFb2997BA6C7d2e1e";
const REGISTRAR = "0x57f1887a8BF19b14fC0dF6Fd9B2acc9Af147eA85";
/** After expiry, only the last owner can renew the name for this long. */
const GRACE_SECONDS = 90 * 86_400;
const MAX_TTL_SECONDS = 86_400n;

/**
 * Asks the .eth registrar whether a name is registered: records remain after a registration has expired. A subdomain
 * has the status of its second-level name. @param nowMs milliseconds since the Unix epoch.
 */
export async function readRegistration(client: Client, name: string, nowMs: number): Promise<Registration> {
  const [tld, label = ""] = name.split(".").reverse();
  if (tld !== "eth") return HELD;
  const expiry = await readExpiry(client, label);
  if (expiry * 1000 > nowMs || (await isAnsweredBySuccessor(client, name))) return HELD;
  if (expiry === 0) return { isHeld: false, note: `${label}.eth is not registered.` };
  const renewable = expiry + GRACE_SECONDS;
  if (renewable * 1000 > nowMs) return { isHeld: true, note: toWarning(label, expiry, renewable) };
  const note = `${label}.eth expired on ${toDay(expiry)}: its records are a former owner's, so no address is given.`;
  return { isHeld: false, note };
}

/** The TTL in the ENS registry, at most a day; undefined when none is set. */
export async function readTtlSeconds(client: Client, name: string): Promise<number | undefined> {
  const { abi, namehash, readContract } = await openContracts();
  const ttl = await readContract(client, { address: REGISTRY, abi, functionName: "ttl", args: [namehash(name)] });
  return Number(ttl > MAX_TTL_SECONDS ? MAX_TTL_SECONDS : ttl) || undefined;
}

/** Unix seconds; 0 for a name that was never registered. */
async function readExpiry(client: Client, label: string): Promise<number> {
  const { abi, labelhash, readContract } = await openContracts();
  const args = [BigInt(labelhash(label))] as const;
  return Number(await readContract(client, { address: REGISTRAR, abi, functionName: "nameExpires", args }));
}

/**
 * True for a name that has moved to ENSv2, whose own registry drops expired names. Such a name's resolver differs from the
 * one that the ENSv1 registry has for the name or for its nearest parent.
 */
async function isAnsweredBySuccessor(client: Client, name: string): Promise<boolean> {
  const { abi, namehash, readContract } = await openContracts();
  const labels = name.split(".");
  const nodes = labels.map((_, index) => namehash(labels.slice(index).join(".")));
  const [asked, ...held] = await Promise.all([
    findResolver(client, name),
    ...nodes.map((node) => readContract(client, { address: REGISTRY, abi, functionName: "resolver", args: [node] })),
  ]);
  return asked !== NOBODY && asked !== held.find((resolver) => resolver !== NOBODY);
}

async function openContracts() {
  const [{ parseAbi }, { readContract }, { labelhash, namehash }] = await Promise.all([
    import("viem"),
    import("viem/actions"),
    import("viem/ens"),
  ]);
  const abi = parseAbi([
    "function nameExpires(uint256 id) view returns (uint256)",
    "function resolver(bytes32 node) view returns (address)",
    "function ttl(bytes32 node) view returns (uint64)",
  ]);
  return { abi, labelhash, namehash, readContract };
}

const toWarning = (label: string, expiry: number, renewable: number): string =>
  `Beware: ${label}.eth expired on ${toDay(expiry)}. Until ${toDay(renewable)} its last owner alone can renew it; then it is open to anybody.`;

const toDay = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);
