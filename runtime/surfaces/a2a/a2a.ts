import type { Log } from "../../api/capabilities.ts";
import type { Invoke } from "../../core/invoke.ts";
import { createJobRecords } from "../../core/jobs/records.ts";
import { PATHS } from "../../core/paths.ts";
import type { Budget } from "../../core/peers/budget.ts";
import type { PeerKeys } from "../../core/peers/keys.ts";
import type { Service } from "../../core/service.ts";
import type { Store } from "../../core/store.ts";
import type { SignIns } from "../../core/wallets/sign-in.ts";
import { type RpcDoor, toDoorBytes } from "../rpc/door.ts";
import { createFollowJob } from "./jobs.ts";
import { createPeerDoor } from "./peers/door.ts";
import { createPeerMethods, type PeerMethodsOptions } from "./peers/methods.ts";
import { createA2aServer } from "./server.ts";
import { createStandard } from "./standard.ts";
import { createTaskBook } from "./task-book.ts";
import { createTaskIndex } from "./task-index.ts";
import { createTaskCalls } from "./tasks.ts";

export interface A2aOptions extends Omit<PeerMethodsOptions, "services" | "endpoint"> {
  readonly services: readonly Service[];
  /** The services that tasks can be about, retired ones included. Default: `services`. */
  readonly routed?: readonly Service[];
  readonly invoke: Invoke;
  readonly peerKeys: PeerKeys;
  readonly budgets: { readonly clients: Budget; readonly peers: Budget };
  readonly store: Store;
  readonly log: Log;
  /** When omitted, wallets cannot sign in. */
  readonly signIns?: Pick<SignIns, "declare" | "verify"> | undefined;
  /** How many bytes unpaid tasks may take in the store; default: 64 MB. */
  readonly mostUnpaidBytes?: number;
}

/** The A2A endpoint, to be mounted at `PATHS.a2a`: A2A's standard methods and the signed peer methods. */
export function createA2a(options: A2aOptions): RpcDoor {
  const { services: list, routed = list, invoke, site, baseUrl, facilitator, identity } = options;
  const { peerKeys: keys, exchanges, budgets, store, clock, log } = options;
  const services = toMap(list);
  const known = toMap(routed);
  const endpoint = baseUrl + PATHS.a2a;
  const book = createTaskBook({ store, clock, mostUnpaidBytes: options.mostUnpaidBytes });
  const index = createTaskIndex({ store, clock });
  const methods = createPeerMethods({ services, site, baseUrl, endpoint, facilitator, identity, exchanges, clock });
  return createA2aServer({
    peers: createPeerDoor({ methods, keys, store, budget: budgets.peers, audience: baseUrl, clock }),
    tasks: createStandard({
      services,
      routed: known,
      book,
      calls: createTaskCalls({ services: known, invoke, book, index, endpoint, clock, log }),
      follow: createFollowJob({ services: known, invoke, book, records: createJobRecords({ store, clock }), endpoint }),
      index,
      listing: { signIns: options.signIns, store },
    }),
    budget: budgets.clients,
    maxBytes: toDoorBytes(routed),
  });
}

const toMap = (services: readonly Service[]): ReadonlyMap<string, Service> =>
  new Map(services.map((service) => [service.manifest.id, service]));
