import { createPublicKey } from "node:crypto";
import { type AgentCard, Role, TaskState, verifyAgentCardSignature } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import { x402Client } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ClientFactory as ClientFactory03 } from "a2a-js-03/client";
import { expect } from "chai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Loose } from "../mcp/support/stall.ts";
import { type ServedDoor, serveDoor } from "./support/serve.ts";

const INPUT = { low: 3, high: 6 };

/** What the official clients do, in the words of neither. */
interface OfficialClient {
  /** The task's state as the client's own library names it. */
  state(task: Loose): string;
  /** Begins a task for a service. */
  begin(skill: string, input?: unknown): Promise<Loose>;
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

async function open03(url: string): Promise<OfficialClient> {
  const client = await new ClientFactory03().createFromUrl(url);
  const send = (message: object): Promise<Loose> =>
    client.sendMessage({ message: { kind: "message", messageId: "m", role: "user", parts: [], ...message } } as Loose);
  return {
    state: ({ status }) => status.state,
    begin: (skill, input = INPUT) => send({ parts: [{ kind: "data", data: { skill, input } }] }),
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
    begin: (skill, input = INPUT) => send({ parts: [part({ skill, input })] }),
    pay: (task, payment) => send({ taskId: task.id, contextId: task.contextId, metadata: toMetadata(payment) }),
    get: (task) => client.getTask({ ...id(task), historyLength: undefined }),
    cancel: (task) => client.cancelTask(id(task)),
    dataOf: ({ artifacts }) => artifacts[0].parts[0].content.value,
  };
}

const CLIENTS: readonly [name: string, open: (url: string) => Promise<OfficialClient>][] = [
  ["0.3.14", open03],
  ["1.3.0", (url) => open10(url, false)],
  ["1.3.0, speaking 0.3", (url) => open10(url, true)],
];

describe("the official A2A client", () => {
  let served: ServedDoor;
  before(async () => {
    served = await serveDoor();
  });
  after(() => served.close());

  for (const [name, open] of CLIENTS)
    describe(name, () => {
      let client: OfficialClient;
      before(async () => {
        client = await open(served.url);
      });

      it("gets the result of a free service", async () => {
        const task = await client.begin("free");
        expect(client.state(task)).to.equal("completed");
        expect(client.dataOf(task)).to.deep.equal({ value: 3 });
      });

      it("gets the faults of a refused input", async () => {
        expect(client.state(await client.begin("free", { low: "x" }))).to.equal("rejected");
      });

      it("pays for a task within it, and gets the result and the receipt", async () => {
        const waiting = await client.begin("roll");
        expect(client.state(waiting)).to.equal("input-required");
        const { metadata } = waiting.status.message;
        expect(metadata["x402.payment.status"]).to.equal("payment-required");
        const paid = await client.pay(waiting, served.door.pay(metadata["x402.payment.required"]));
        expect(paid.id).to.equal(waiting.id);
        expect(client.state(paid)).to.equal("completed");
        expect(client.dataOf(paid)).to.deep.equal({ value: 3 });
        expect(paid.status.message.metadata["x402.payment.receipts"][0]).to.include({ success: true });
        expect(client.state(await client.get(waiting.id))).to.equal("completed");
      });

      it("cancels a task", async () => {
        const waiting = await client.begin("roll");
        expect(client.state(await client.cancel(waiting.id))).to.equal("canceled");
      });

      it("knows our errors by their names", async () => {
        const nameOf = (call: Promise<unknown>): Promise<string> =>
          call.then(
            () => "no error",
            ({ name }: Error) => name,
          );
        expect(await nameOf(client.get("00000000-0000-4000-8000-000000000000"))).to.match(/TaskNotFound/);
        const ended = await client.begin("free");
        expect(await nameOf(client.cancel(ended.id))).to.match(/TaskNotCancelable/);
        expect(await nameOf(client.pay(ended, {}))).to.match(/UnsupportedOperation/);
        expect(await client.begin("nope").then(() => "", String)).to.match(/There is no skill "nope"/);
      });
    });

  it("pays with a stock x402 wallet, as a task asks", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const wallet = new x402Client().register("eip155:8453", new ExactEvmScheme(account));
    const client = await open03(served.url);
    const waiting = await client.begin("roll");
    const payment = await wallet.createPaymentPayload(waiting.status.message.metadata["x402.payment.required"]);
    const paid = await client.pay(waiting, payment);
    expect(client.state(paid)).to.equal("completed");
    const [receipt] = paid.status.message.metadata["x402.payment.receipts"];
    expect(receipt).to.include({ success: true, payer: account.address });
  });

  it("1.3.0 verifies the card that the server serves, with the keys that the server serves", async () => {
    const card = (await (await fetch(`${served.url}/.well-known/agent-card.json`)).json()) as AgentCard;
    const { debug } = console; // The library tells of each signature that is not over its own form.
    console.debug = () => {};
    try {
      await verifyAgentCardSignature(async (kid, jku) => {
        const { keys } = (await (await fetch(jku as string)).json()) as Loose;
        return createPublicKey({ key: keys.find((key: Loose) => key.kid === kid), format: "jwk" });
      })(card);
    } finally {
      console.debug = debug;
    }
  });

  it("finds the card unchanged by its ETag", async () => {
    const url = `${served.url}/.well-known/agent-card.json`;
    const { headers } = await fetch(url);
    expect((await fetch(url, { headers: { "if-none-match": headers.get("etag") ?? "" } })).status).to.equal(304);
  });
});
