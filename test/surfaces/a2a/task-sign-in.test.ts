import { createSIWxPayload } from "@x402/extensions/sign-in-with-x";
import { expect } from "chai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { Problem } from "../../../runtime/api/problem.ts";
import { sharedSandboxServer } from "../../support/sellers/shared-sandbox-server.ts";
import { createBuyer, json } from "../../support/sellers/stock-buyer.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { type Door, manifestOf, openDoor, TRUSTING, toProof } from "./served/support/door.ts";

const INPUT = { limit: 5, answers: true };

describe("a task of a skill for wallets that sign in", () => {
  let sandbox: Awaited<ReturnType<typeof sharedSandboxServer>>;
  before(async () => {
    sandbox = await sharedSandboxServer();
  });

  const send = async (message: object): Promise<Loose> => {
    const sent = { kind: "message", messageId: "m", role: "user", parts: [], ...message };
    const call = { jsonrpc: "2.0", id: 1, method: "message/send", params: { message: sent } };
    return ((await (await fetch(`${sandbox.url}/v1/a2a`, json(call))).json()) as Loose).result;
  };
  const begin = (): Promise<Loose> => send({ parts: [{ kind: "data", data: { skill: "purchases", input: INPUT } }] });
  const sign = async (task: Loose, key: `0x${string}`): Promise<object> => {
    const { info, supportedChains } =
      task.status.message.metadata["x402.payment.required"].extensions["sign-in-with-x"];
    const chain = supportedChains.find(({ chainId }: Loose) => chainId === "eip155:8453");
    return createSIWxPayload({ ...info, ...chain }, privateKeyToAccount(key), sandbox.url);
  };
  const listed = (task: Loose): Loose[] => task.artifacts[0].parts.find((part: Loose) => part.data).data.purchases;

  it("waits for the signature, and shows the wallet what it has bought, and nobody else", async () => {
    const client = await createBuyer(sandbox as never);
    const asked = await send({ parts: [{ kind: "data", data: { skill: "roll", input: { low: 1, high: 6 } } }] });
    const payload = await client.createPaymentPayload(asked.status.message.metadata["x402.payment.required"]);
    const bought = await send({ taskId: asked.id, metadata: { "x402.payment.payload": payload } });
    expect(bought.status.state).to.equal("completed");

    const task = await begin();
    expect(task.status.state).to.equal("input-required");
    const own = await sign(task, sandbox.description.buyer.evm.private_key);
    const done = await send({ taskId: task.id, metadata: { "x402.sign-in-with-x": own } });
    expect(done.status.state).to.equal("completed");
    const [newest] = listed(done);
    expect(newest.answer).to.deep.equal(bought.artifacts[0].parts[0].data);

    const other = await begin();
    const foreign = await sign(other, generatePrivateKey());
    expect(listed(await send({ taskId: other.id, metadata: { "x402.sign-in-with-x": foreign } }))).to.deep.equal([]);
    const again = await begin();
    const replayed = await send({ taskId: again.id, metadata: { "x402.sign-in-with-x": own } });
    expect(replayed.status.state).to.equal("input-required");
    expect(replayed.status.message.parts[0].text).to.equal(
      "The proof was not accepted (sign_in_refused: the nonce was used before: ask for a new challenge). " +
        "A wallet must sign in: with x402's sign-in-with-x.",
    );
  });
});

describe("a task of a skill with free calls", () => {
  let door: Door;
  beforeEach(async () => {
    door = await openDoor({
      manifests: [manifestOf("roll", { free: { calls: 1, per: "day" } })],
      signInsOf: TRUSTING,
    });
  });
  afterEach(() => door.close());

  const send = async (metadata: object, taskId?: string): Promise<Loose> => {
    const parts = [{ data: { skill: "roll", input: { low: 1, high: 6 } } }];
    const message = { messageId: "m", role: "ROLE_USER", parts, metadata, ...(taskId && { taskId }) };
    return (await door.call("SendMessage", { message })).result.task;
  };
  const proof = (): object => ({ "x402.sign-in-with-x": toProof(door, `0x${"a1".repeat(20)}`) });
  const payment = async (): Promise<object> => {
    const asked = await send({});
    return { "x402.payment.payload": door.pay(asked.status.message.metadata["x402.payment.required"]) };
  };

  it("is paid for, and keeps the free call, when its message brings a payment and a proof", async () => {
    const paid = await send({ ...(await payment()), ...proof() });
    expect(paid.status.state).to.equal("TASK_STATE_COMPLETED");
    expect(paid.status.message.metadata["x402.payment.receipts"]).to.have.length(1);
    expect(door.executions).to.equal(1);
    expect((await send(proof())).status.state).to.equal("TASK_STATE_COMPLETED");
    expect(door.executions).to.equal(2);
  });

  it("keeps its free call when it is only looked at, whatever proof comes along", async () => {
    const { id } = await send({});
    const { result } = await door.call("GetTask", { id, message: { metadata: proof() } });
    expect([result.status.state, door.executions]).to.deep.equal(["TASK_STATE_INPUT_REQUIRED", 0]);
  });

  it("is worked on once when a message and its payment come during its free call: nothing is charged, and the free answer stays", async () => {
    const [working, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    door.handler = async () => {
      working.resolve();
      await mayEnd.promise;
      return { value: door.executions };
    };
    const { id, status } = await send({});
    const paying = { "x402.payment.payload": door.pay(status.message.metadata["x402.payment.required"]) };
    const free = send(proof(), id);
    await working.promise;
    const waiting = [await send({}, id), await send(proof(), id), await send(paying, id), await send(paying, id)];
    expect(waiting.map((task) => task.status.state)).to.deep.equal(waiting.map(() => "TASK_STATE_WORKING"));
    mayEnd.resolve();
    const done = await free;
    expect(await send(paying, id)).to.deep.equal(done);
    expect([done.status.state, door.executions]).to.deep.equal(["TASK_STATE_COMPLETED", 1]);
    expect(door.rails.base.moved.size).to.equal(0);
  });

  it("is shown as being worked on during its free call, with nothing to pay", async () => {
    const { id } = await send({});
    let shown: Loose;
    door.handler = async () => {
      shown = (await door.call("GetTask", { id })).result;
      return { value: 1 };
    };
    await send(proof(), id);
    expect(shown.status.state).to.equal("TASK_STATE_WORKING");
    expect(shown.status.message.metadata ?? {}).not.to.have.property("x402.payment.required");
  });

  it("is not canceled while its free call is at work, whose answer stays its end", async () => {
    const { id } = await send({});
    let refused: Loose;
    door.handler = async () => {
      refused = await door.call("CancelTask", { id });
      return { value: 1 };
    };
    const done = await send(proof(), id);
    expect(refused.error.message).to.equal("The task is being worked on and cannot be canceled");
    expect(done.status.state).to.equal("TASK_STATE_COMPLETED");
    expect((await door.call("GetTask", { id })).result.status.state).to.equal("TASK_STATE_COMPLETED");
  });

  it("keeps waiting when its free call fails, which the message is answered with and which is given back", async () => {
    const { id } = await send({});
    door.handler = async () => {
      throw new Problem("upstream-failed", "The dice are lost");
    };
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "mine" }], metadata: proof() };
    const { error } = await door.call("SendMessage", { message: { ...message, taskId: id } });
    expect([error.code, error.message]).to.deep.equal([-50201, "The dice are lost"]);
    expect((await door.call("GetTask", { id })).result.status.state).to.equal("TASK_STATE_INPUT_REQUIRED");
    door.handler = async () => ({ value: 1 });
    expect((await send(proof(), id)).status.state).to.equal("TASK_STATE_COMPLETED");
  });

  it("says in words why a proof brings nothing any more", async () => {
    await send(proof());
    const { status } = await send(proof());
    expect(status.state).to.equal("TASK_STATE_INPUT_REQUIRED");
    expect(status.message.parts[0].text).to.match(/free_calls_used.*Payment is required: 0\.001 USD/);
  });
});
