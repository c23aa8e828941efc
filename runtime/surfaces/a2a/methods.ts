import { A2A_CODES, type A2aRefusal, refuse } from "./errors.ts";

/** The version of A2A in which a task is written. A method is answered in the dialect of its name. */
export type A2aDialect = "0.3" | "1.0";

/** The operation behind a standard method. */
export type Verb = "send" | "get" | "cancel" | "list";

/** A standard method: its operation, or why it is not supported. */
export type Method = { readonly dialect: A2aDialect } & ({ readonly verb: Verb } | { readonly refusal: A2aRefusal });

const { pushNotSupported, unsupportedOperation, extendedCardNotConfigured } = A2A_CODES;
const noStream = refuse(unsupportedOperation, "Streaming is not supported; send the message without it");
const noUpdates = refuse(unsupportedOperation, "Streaming is not supported; ask for the task until it has ended");
const noPush = refuse(pushNotSupported, "Push notifications are not supported");
const noCard = "There is no extended agent card: the public one is complete";

/** Of 0.3, section 7, which has no method to list tasks over JSON-RPC; of 1.0, section 9.4. */
const METHODS: Readonly<Record<A2aDialect, Readonly<Record<string, Verb | A2aRefusal>>>> = {
  "0.3": {
    "message/send": "send",
    "tasks/get": "get",
    "tasks/cancel": "cancel",
    "message/stream": noStream,
    "tasks/resubscribe": noUpdates,
    "tasks/pushNotificationConfig/set": noPush,
    "tasks/pushNotificationConfig/get": noPush,
    "tasks/pushNotificationConfig/list": noPush,
    "tasks/pushNotificationConfig/delete": noPush,
    "agent/getAuthenticatedExtendedCard": refuse(extendedCardNotConfigured, noCard),
  },
  "1.0": {
    SendMessage: "send",
    GetTask: "get",
    CancelTask: "cancel",
    SendStreamingMessage: noStream,
    SubscribeToTask: noUpdates,
    ListTasks: "list",
    CreateTaskPushNotificationConfig: noPush,
    GetTaskPushNotificationConfig: noPush,
    ListTaskPushNotificationConfigs: noPush,
    DeleteTaskPushNotificationConfig: noPush,
    GetExtendedAgentCard: refuse(unsupportedOperation, noCard), // Section 3.3.4: the agent card does not declare it.
  },
};

const BY_NAME: ReadonlyMap<string, Method> = new Map(
  (Object.keys(METHODS) as A2aDialect[]).flatMap((dialect) =>
    Object.entries(METHODS[dialect]).map(([name, what]): [string, Method] => [
      name,
      typeof what === "string" ? { dialect, verb: what } : { dialect, refusal: what },
    ]),
  ),
);

export const findMethod = (name: string): Method | undefined => BY_NAME.get(name);

/** Patch versions do not matter for compatibility (1.0, section 3.6). */
const SERVED = /^(?:0\.3|1\.0)(?:\.\d{1,4})?$/;

/**
 * The refusal of an `A2A-Version` that is not served; undefined when it is served. A missing or empty version means
 * 0.3.
 */
export function checkVersion(version: string | undefined): A2aRefusal | undefined {
  if (!version || SERVED.test(version)) return undefined;
  const message = `A2A version ${JSON.stringify(version.slice(0, 40))} is not served; 0.3 and 1.0 are`;
  return refuse(A2A_CODES.versionNotSupported, message);
}
