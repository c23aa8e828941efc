import { type Abi, encodeFunctionData, labelhash, namehash, parseAbi } from "viem";
import type { Hex } from "../../../runtime/api/capabilities.ts";
import { type EvmChain, startEvmChain } from "../../../runtime/sandbox/evm/chain.ts";
import built from "./contracts/Ens.bytecode.json" with { type: "json" };

type Contract = keyof typeof built.runtimeBytecode;

/** The addresses of ENS on Ethereum. */
const PLACES = {
  EnsRegistry: "0x00000000000C2E074eC69A0dFb2997BA6C7d2e1e",
  EnsRegistrar: "0x57f1887a8BF19b14fC0dF6Fd9B2acc9Af147eA85",
  EnsUniversalResolver: "0xeEeEEEeE14D718C2B47D9923Deab1335E144EeEe",
  EnsResolver: "0x231b0Ee14048e9dCcD1d247744d114a4EB5E8E63",
  EnsWildcard: "0x00000000000000000000000000000000000e5001",
  EnsOffchain: "0x00000000000000000000000000000000000e5002",
} as const satisfies Record<Contract, Hex>;

const abi: Abi = parseAbi([
  "function setRecord(bytes32 node, address resolver, uint64 ttl)",
  "function setExpiry(uint256 id, uint256 expiry)",
  "function setAddr(bytes32 node, address target)",
  "function setCoin(bytes32 node, uint256 coin, bytes target)",
  "function setName(bytes32 node, string target)",
  "function setTarget(address target)",
  "function setGateways(string[] urls, bool again)",
  "function setSuccessor(bytes32 node, address resolver)",
]);

const FAR_AWAY = 4_000_000_000;

/** An embedded Ethereum with an ENS that is written by transactions. */
export interface Ens {
  readonly url: string;
  readonly places: typeof PLACES;
  /** Registers the name, or its second-level name, and gives it a resolver. @param expiry Unix seconds. */
  register(name: string, terms?: { expiry?: number; ttl?: number }): Promise<void>;
  /** Sets when a second-level name expires, in Unix seconds. */
  setExpiry(label: string, expiry: number): Promise<void>;
  /** Sets the resolver of a name, here or in the older registry. */
  setResolver(name: string, resolver: Hex, ttl?: number): Promise<void>;
  setSuccessor(name: string, resolver: Hex): Promise<void>;
  setAddress(name: string, address: Hex): Promise<void>;
  setCoin(name: string, coin: number, target: Hex): Promise<void>;
  /** Sets the reverse name of an address; the name need not resolve to the address. */
  setPrimaryName(address: Hex, name: string): Promise<void>;
  setWildcard(address: Hex): Promise<void>;
  setGateways(urls: readonly string[], isEndless?: boolean): Promise<void>;
  stop(): Promise<void>;
}

export async function startEns(): Promise<Ens> {
  const chain = await startEvmChain({ chainId: 1 });
  for (const [name, bytecode] of Object.entries(built.runtimeBytecode))
    await chain.rpc("anvil_setCode", [PLACES[name as Contract], bytecode]);
  const write = createWrite(chain);
  const setResolver: Ens["setResolver"] = (name, resolver, ttl = 0) =>
    write("EnsRegistry", "setRecord", namehash(name), resolver, ttl);
  const setExpiry: Ens["setExpiry"] = (label, expiry) =>
    write("EnsRegistrar", "setExpiry", BigInt(labelhash(label)), expiry);
  return {
    url: chain.url,
    places: PLACES,
    register: async (name, { expiry = FAR_AWAY, ttl = 0 } = {}) => {
      await setExpiry(name.split(".").at(-2) ?? "", expiry);
      await setResolver(name, PLACES.EnsResolver, ttl);
    },
    setExpiry,
    setResolver,
    setSuccessor: (name, resolver) => write("EnsUniversalResolver", "setSuccessor", namehash(name), resolver),
    setAddress: (name, address) => write("EnsResolver", "setAddr", namehash(name), address),
    setCoin: (name, coin, target) => write("EnsResolver", "setCoin", namehash(name), coin, target),
    setPrimaryName: async (address, name) => {
      const reverse = `${address.slice(2).toLowerCase()}.addr.reverse`;
      await setResolver(reverse, PLACES.EnsResolver);
      await write("EnsResolver", "setName", namehash(reverse), name);
    },
    setWildcard: (address) => write("EnsWildcard", "setTarget", address),
    setGateways: (urls, isEndless = false) => write("EnsOffchain", "setGateways", urls, isEndless),
    stop: chain.stop,
  };
}

function createWrite({ transact }: EvmChain) {
  return async (contract: Contract, functionName: string, ...args: readonly unknown[]): Promise<void> => {
    const { status } = await transact(PLACES[contract], encodeFunctionData({ abi, functionName, args }));
    if (status !== "0x1") throw new Error(`${contract}.${functionName} was reverted`);
  };
}
