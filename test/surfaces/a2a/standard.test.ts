import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { BOUNDLESS, type Door, openDoor } from "./served/support/door.ts";

const INPUT = { low: 1, high: 6 };
const EXTENSION = "https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2";

describe("the standard methods of A2A", () => {
  let door: Door;
  beforeEach(async () => {
    door = await openDoor({ budgets: BOUNDLESS });
  });
  afterEach(() => door.close());

  const send = (parts: unknown, more: object = {}): Promise<Loose> =>
    door.call("message/send", { message: { role: "user", messageId: "m", parts }, ...more });

  describe("in the dialect of 1.0", () => {
    const begin = async (skill: string): Promise<Loose> =>
      (
        await door.call("SendMessage", {
          message: { role: "ROLE_USER", messageId: "m", parts: [{ data: { skill, input: INPUT } }] },
        })
      ).result;

    it("wrap the task of a message, spell its state and role as 1.0 does, and have no kinds", async () => {
      const { task, ...rest } = await begin("free");
      expect(rest).to.deep.equal({});
      expect(JSON.stringify(task)).not.to.include('"kind"');
      expect(task.status.state).to.equal("TASK_STATE_COMPLETED");
      expect(task.status.message.role).to.equal("ROLE_AGENT");
      expect(task.status.message.parts).to.deep.equal([{ text: "Done." }]);
      expect(task.artifacts[0].parts).to.deep.equal([{ data: { value: 1 }, mediaType: "application/json" }]);
      expect((await door.call("GetTask", { id: task.id })).result).to.deep.equal(task);
    });

    it("are paid in band, and canceled", async () => {
      const { task } = await begin("roll");
      expect(task.status.state).to.equal("TASK_STATE_INPUT_REQUIRED");
      const payment = door.pay(task.status.message.metadata["x402.payment.required"]);
      const metadata = { "x402.payment.status": "payment-submitted", "x402.payment.payload": payment };
      const { result } = await door.call("SendMessage", {
        message: { messageId: "m", role: "user", taskId: task.id, metadata },
      });
      expect(result.task.status.state).to.equal("TASK_STATE_COMPLETED");
      expect(result.task.status.message.metadata["x402.payment.status"]).to.equal("payment-completed");
      const other = (await begin("roll")).task;
      const canceled = (await door.call("CancelTask", { id: other.id })).result;
      expect([canceled.id, canceled.status.state]).to.deep.equal([other.id, "TASK_STATE_CANCELED"]);
    });

    it("name A2A's own errors in their data, as no error of 0.3 or of JSON-RPC does", async () => {
      const domain = "a2a-protocol.org";
      for (const [method, reason] of [
        ["GetTask", "TASK_NOT_FOUND"],
        ["SubscribeToTask", "UNSUPPORTED_OPERATION"],
        ["GetTaskPushNotificationConfig", "PUSH_NOTIFICATION_NOT_SUPPORTED"],
      ] as const) {
        const { error } = await door.call(method, { id: "no-task" });
        expect(error.data).to.deep.equal([{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain }]);
      }
      expect((await door.call("GetTask", {})).error).not.to.have.property("data");
      expect((await door.call("tasks/get", { id: "no-task" })).error).not.to.have.property("data");
    });

    it("show the tasks of the other dialect", async () => {
      const { result } = await send([{ kind: "data", data: { skill: "free", input: INPUT } }]);
      const { result: task } = await door.call("GetTask", { id: result.id });
      expect(task.status.state).to.equal("TASK_STATE_COMPLETED");
    });
  });

  describe("that are not done here", () => {
    const others: readonly [method: string, code: number][] = [
      ...["message/stream", "tasks/resubscribe", "SendStreamingMessage", "SubscribeToTask"].map(
        (method): [string, number] => [method, -32004],
      ),
      ...["set", "get", "list", "delete"].map((verb): [string, number] => [
        `tasks/pushNotificationConfig/${verb}`,
        -32003,
      ]),
      ...["CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig"].map((method): [string, number] => [
        method,
        -32003,
      ]),
      ...["ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig"].map((method): [string, number] => [
        method,
        -32003,
      ]),
      ["agent/getAuthenticatedExtendedCard", -32007],
      ["GetExtendedAgentCard", -32004],
      ...["tasks/list", "message/Send", "sendMessage", "peer/goodbye", "", "__proto__", "toString"].map(
        (method): [string, number] => [method, -32601],
      ),
    ];
    for (const [method, code] of others)
      it(`answer ${code} to ${JSON.stringify(method)}`, async () => {
        const { error } = await door.call(method);
        expect(error.code).to.equal(code);
        expect(error.message).to.be.a("string").and.not.equal("");
      });

    it("say how to go on without a stream", async () => {
      for (const [method, how] of [
        ["message/stream", /send the message without it$/],
        ["tasks/resubscribe", /ask for the task until it has ended$/],
      ] as const)
        expect((await door.call(method)).error.message).to.match(how);
    });

    it("answer -32003 to a message that asks to be called back", async () => {
      const parts = [{ kind: "data", data: { skill: "free", input: INPUT } }];
      for (const name of ["pushNotificationConfig", "taskPushNotificationConfig"])
        expect((await send(parts, { configuration: { [name]: { url: "https://a.example" } } })).error.code).to.equal(
          -32003,
        );
      expect(door.executions).to.equal(0);
    });
  });

  describe("in their versions", () => {
    for (const version of ["", "0.3", "1.0", "0.3.0", "1.0.1", " 1.0 "])
      it(`are answered at ${JSON.stringify(version)}`, async () => {
        expect((await door.call("tasks/get", { id: "x" }, { "a2a-version": version })).error.code).to.equal(-32001);
      });

    for (const version of ["2.0", "0.2", "0.4", "1", "1.1", "x", "1.0.0.0", "0x3"])
      it(`are refused with -32009 at ${version}`, async () => {
        for (const method of ["message/send", "SendMessage", "message/stream"]) {
          const { error } = await door.call(method, {}, { "a2a-version": version });
          expect(error.code).to.equal(-32009);
          expect(error.message).to.include(JSON.stringify(version));
        }
        expect((await door.call("x", {}, { "a2a-version": version })).error.code).to.equal(-32601);
      });
  });

  describe("around a message", () => {
    const post = (body: unknown, headers?: Record<string, string>) => door.post(body, headers);

    it("answer with the id that was sent, as it was sent", async () => {
      for (const id of ["a", 0, -7, "", "é"]) {
        const { status, headers, body } = await post({ jsonrpc: "2.0", id, method: "tasks/get", params: { id: "x" } });
        expect(status).to.equal(200);
        expect(headers).to.include({ "content-type": "application/json", "cache-control": "no-store" });
        expect(body.id).to.equal(id);
        expect(body.jsonrpc).to.equal("2.0");
      }
    });

    const bad: readonly [what: string, body: unknown, status: number, code: number, id: unknown][] = [
      ["what is no JSON", "{", 400, -32700, null],
      ["an empty body", "", 400, -32700, null],
      ["a list", [{ jsonrpc: "2.0", id: 1, method: "tasks/get" }], 200, -32600, null],
      ["an empty list", [], 200, -32600, null],
      ["a text", '"tasks/get"', 200, -32600, null],
      ["null", "null", 200, -32600, null],
      ["another version of JSON-RPC", { jsonrpc: "1.0", id: 1, method: "tasks/get" }, 200, -32600, 1],
      ["no method", { jsonrpc: "2.0", id: 1 }, 200, -32600, 1],
      ["a method that is no text", { jsonrpc: "2.0", id: 1, method: 1 }, 200, -32600, 1],
      ["params in a list", { jsonrpc: "2.0", id: 1, method: "tasks/get", params: ["x"] }, 200, -32600, 1],
      ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "tasks/get" }, 200, -32600, null],
      ["an id that is null", { jsonrpc: "2.0", id: null, method: "tasks/get" }, 200, -32600, null],
      ["no id", { jsonrpc: "2.0", method: "message/send", params: {} }, 200, -32600, null],
      ["an answer", { jsonrpc: "2.0", id: 1, result: {} }, 200, -32600, null],
    ];
    for (const [what, sent, status, code, id] of bad)
      it(`refuse ${what}`, async () => {
        const { body, ...reply } = await post(sent);
        expect([reply.status, body.error.code, body.id]).to.deep.equal([status, code, id]);
      });

    for (const type of ["text/plain", "", "application/x-www-form-urlencoded", "application/jsonx"])
      it(`refuse the content type ${JSON.stringify(type)}`, async () => {
        const { status, body } = await post({ jsonrpc: "2.0", id: 1, method: "tasks/get" }, { "content-type": type });
        expect([status, body.error.code]).to.deep.equal([415, -41501]);
        expect(body.error.data.request_id, "by which the seller is asked").to.be.a("string");
      });

    it("take JSON under its other names", async () => {
      for (const type of ["application/json; charset=utf-8", "application/a2a+json", "APPLICATION/JSON"]) {
        const { body } = await post({ jsonrpc: "2.0", id: 1, method: "tasks/get" }, { "content-type": type });
        expect(body.error.code).to.equal(-32602);
      }
    });

    it("echo the extension that is activated, under its header's name, and no other", async () => {
      const message = {
        jsonrpc: "2.0",
        id: 1,
        method: "message/send",
        params: { message: { messageId: "m", role: "user", parts: [{ text: "free" }] } },
      };
      for (const name of ["x-a2a-extensions", "a2a-extensions"]) {
        const { headers } = await post(message, { [name]: `https://other.example/a, ${EXTENSION}` });
        expect(headers[name]).to.equal(EXTENSION);
        expect(headers["access-control-expose-headers"], "for browsers").to.equal(name);
        expect(await post(message, { [name]: "https://other.example/a" })).not.to.have.nested.property(
          `headers.${name}`,
        );
      }
    });

    it("say that the store cannot be reached, with a code that is none of A2A's", async () => {
      const gone = {
        ...createMemoryStore(),
        get: () => Promise.reject(new Problem("unavailable", "No store", { retryAfter: 3 })),
      };
      const closed = await openDoor({ store: gone });
      const { body, headers, calls } = await closed.post({
        jsonrpc: "2.0",
        id: 1,
        method: "tasks/get",
        params: { id: "x" },
      });
      expect([body.error.code, headers["retry-after"]]).to.deep.equal([-50303, "3"]);
      expect(calls[0]).to.have.nested.property("problem.code", "unavailable");
      closed.close();
    });
  });

  it("give a request back to its address, when it was paid", async () => {
    const taken: string[] = [];
    const clients = {
      take: async (key: string, points = 1) => {
        taken.push(`${key} -${points}`);
        return 0;
      },
      giveBack: (key: string, points = 1) => void taken.push(`${key} +${points}`),
    };
    const counted = await openDoor({ budgets: { clients, peers: clients } });
    const parts = [{ data: { skill: "roll", input: INPUT } }];
    const { result } = await counted.call("message/send", { message: { messageId: "m", role: "user", parts } });
    const payment = counted.pay(result.status.message.metadata["x402.payment.required"]);
    await counted.call("message/send", {
      message: { messageId: "m", role: "user", taskId: result.id, metadata: { "x402.payment.payload": payment } },
    });
    const again = { messageId: "m", role: "user", parts, metadata: { "x402.payment.payload": payment } };
    await counted.call("message/send", { message: again });
    expect(taken).to.deep.equal(["192.0.2.1 -1", "192.0.2.1 -1", "192.0.2.1 +1", "192.0.2.1 -1"]);
    counted.close();
  });
});
