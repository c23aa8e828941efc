import { Role, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import { ClientFactory as ClientFactory03 } from "a2a-js-03/client";
import { expect } from "chai";
import type { Loose } from "../../../mcp/served/support/stall.ts";

/** What the official clients do, in the words of neither. */
export interface OfficialClient {
  /** The task's state as the client's own library names it. */
  state(task: Loose): string;
  /** Begins a task for a service. */
  begin(skill: string, input: unknown): Promise<Loose>;
  /** Continues a task with a payment. */
  pay(task: Loose, payment: object): Promise<Loose>;
  get(id: string): Promise<Loose>;
  cancel(id: string): Promise<Loose>;
  dataOf(task: Loose): unknown;
}

const toMetadata = (payment: object) => ({
  "x402.payment.status": "payment-submitted",
  "x402.payment.payload": payment,
});

export async function open03(url: string): Promise<OfficialClient> {
  const client = await new ClientFactory03().createFromUrl(url);
  const send = (message: object): Promise<Loose> =>
    client.sendMessage({ message: { kind: "message", messageId: "m", role: "user", parts: [], ...message } } as Loose);
  return {
    state: ({ status }) => status.state,
    begin: (skill, input) => send({ parts: [{ kind: "data", data: { skill, input } }] }),
    pay: (task, payment) => send({ taskId: task.id, contextId: task.contextId, metadata: toMetadata(payment) }),
    get: (id) => client.getTask({ id }),
    cancel: (id) => client.cancelTask({ id }),
    dataOf: ({ artifacts }) => artifacts[0].parts[0].data,
  };
}

/** Client 1.3.0 as it reads cards of older agents, which list no other interface. */
async function open03With10(url: string): Promise<Client> {
  const legacyCompat = { enabled: true };
  const transports = [new JsonRpcTransportFactory({ legacyCompat })];
  const cardResolver = new DefaultAgentCardResolver({ legacyCompat });
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports, cardResolver });
  const { supportedInterfaces: _, ...card } = (await (
    await fetch(`${url}/.well-known/agent-card.json`)
  ).json()) as Loose;
  return new ClientFactory(options).createFromAgentCard(card);
}

async function open10(url: string, legacy: boolean): Promise<OfficialClient> {
  const client = await (legacy ? open03With10(url) : new ClientFactory().createFromUrl(url));
  expect(client.protocolVersion).to.equal(legacy ? "0.3" : "1.0");
  const blank = {
    messageId: "m",
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: [],
    extensions: [],
    referenceTaskIds: [],
  };
  const send = async (message: object): Promise<Loose> =>
    client.sendMessage({
      tenant: "",
      message: { ...blank, metadata: undefined, ...message },
      configuration: undefined,
      metadata: undefined,
    });
  const part = (value: unknown) => ({
    content: { $case: "data", value },
    metadata: undefined,
    filename: "",
    mediaType: "",
  });
  const id = (task: string) => ({ tenant: "", id: task, metadata: undefined });
  return {
    state: ({ status }) => TaskState[status.state]!.replace("TASK_STATE_", "").toLowerCase().replace("_", "-"),
    begin: (skill, input) => send({ parts: [part({ skill, input })] }),
    pay: (task, payment) => send({ taskId: task.id, contextId: task.contextId, metadata: toMetadata(payment) }),
    get: (task) => client.getTask({ ...id(task), historyLength: undefined }),
    cancel: (task) => client.cancelTask(id(task)),
    dataOf: ({ artifacts }) => artifacts[0].parts[0].content.value,
  };
}

/** Client 0.3, client 1.3 and client 1.3 as it speaks with older agents, each opened by the agent's URL. */
export const CLIENTS: readonly [name: string, open: (url: string) => Promise<OfficialClient>][] = [
  ["0.3.14", open03],
  ["1.3.0", (url) => open10(url, false)],
  ["1.3.0, speaking 0.3", (url) => open10(url, true)],
];
