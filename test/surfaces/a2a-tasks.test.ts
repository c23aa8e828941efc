import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import { BASE_URL, type Door, openDoor } from "../a2a/support/door.ts";
import { type Loose, toPayment } from "../mcp/support/stall.ts";

const INPUT = { low: 1, high: 6 };
const KEY = (name: string): string => `x402.payment.${name}`;

const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("a task", () => {
  let door: Door;
  beforeEach(async () => {
    const boundless = { take: async () => 0, giveBack: () => {} };
    door = await openDoor({ budgets: { clients: boundless, peers: boundless } });
  });
  afterEach(() => door.close());

  const send = (message: object, headers?: Record<string, string>): Promise<Loose> =>
    door.call(
      "message/send",
      { message: { kind: "message", messageId: "m", role: "user", parts: [], ...message } },
      headers,
    );
  const begin = async (skill: string, input: unknown = INPUT): Promise<Loose> =>
    (await send({ parts: [{ kind: "data", data: { skill, input } }] })).result;
  const submit = (taskId: string, payment: unknown, status = "payment-submitted"): Promise<Loose> =>
    send({ taskId, metadata: { [KEY("status")]: status, [KEY("payload")]: payment } });
  const metadataOf = ({ status }: Loose): Loose => status.message.metadata;
  const get = (id: string): Promise<Loose> => door.call("tasks/get", { id });
  const pay = (task: Loose, change?: (offer: Loose) => Loose): object =>
    door.pay(metadataOf(task)[KEY("required")], change);

  describe("of a free service", () => {
    it("is completed at once, with the result as an artifact", async () => {
      const task = await begin("free");
      expect(task).to.include({ kind: "task" });
      expect(task.id).to.match(TASK_ID);
      expect(task.contextId).to.match(TASK_ID);
      expect(task.status).to.include({ state: "completed" });
      expect(new Date(task.status.timestamp).getTime()).to.be.closeTo(Date.now(), 5000);
      expect(task.status.message).to.deep.include({
        kind: "message",
        role: "agent",
        taskId: task.id,
        contextId: task.contextId,
        parts: [{ kind: "text", text: "Done." }],
      });
      expect(task.artifacts).to.deep.equal([
        { artifactId: `${task.id}.result`, name: "free", parts: [{ kind: "data", data: { value: 1 } }] },
      ]);
      expect((await get(task.id)).result).to.deep.equal(task);
    });

    it("is rejected with every fault of its input", async () => {
      const task = await begin("free", { low: "x" });
      expect(task.status.state).to.equal("rejected");
      const [text, data] = task.status.message.parts;
      expect(text.text).to.match(/^The task was rejected: .*Nothing was charged\.$/);
      expect(data.data.detail.map(({ loc }: Loose) => loc.join("."))).to.have.members(["body.low", "body.high"]);
      expect(task).not.to.have.property("artifacts");
    });

    it("fails when its handler does, and keeps what was not expected to itself", async () => {
      door.handler = () => {
        throw new TypeError("a secret");
      };
      const { body, calls } = await door.post({
        ...{ jsonrpc: "2.0", id: 1, method: "message/send" },
        params: { message: { parts: [{ kind: "data", data: { skill: "free", input: INPUT } }] } },
      });
      expect(body.result.status.state).to.equal("failed");
      expect(body.result.status.message.parts[1].data).to.include({ code: "internal" }).and.have.property("request_id");
      expect(JSON.stringify(body)).not.to.include("a secret");
      expect(calls[0]?.service).to.equal("free");
      expect(String(calls[0]?.problem?.options.cause)).to.include("a secret");
    });

    it("takes no payment, and charges none", async () => {
      const payment = toPayment({ ...(metadataOf(await begin("roll"))[KEY("required")].accepts[0] as Loose) }, 1);
      const parts = [{ kind: "data", data: { skill: "free", input: INPUT } }];
      const { result } = await send({ parts, metadata: { [KEY("payload")]: payment } });
      expect(result.status.state).to.equal("completed");
      expect(door.rails.base.asked.verify).to.equal(0);
    });
  });

  describe("of a paid service", () => {
    it("waits for its payment, and says with what it can be paid", async () => {
      const task = await begin("roll");
      expect(task.status.state).to.equal("input-required");
      expect(task.status.message.parts[0].text).to.match(/Payment is required: 0\.001 USD/);
      const metadata = metadataOf(task);
      expect(metadata).to.have.all.keys(KEY("status"), KEY("required"));
      expect(metadata[KEY("status")]).to.equal("payment-required");
      const { x402Version, resource, accepts } = metadata[KEY("required")];
      expect([x402Version, resource.url]).to.deep.equal([2, `${BASE_URL}/v1/a2a`]);
      expect(accepts.map(({ network, amount }: Loose) => [network, amount])).to.deep.equal([
        ["eip155:8453", "1000"],
        ["eip155:137", "100000000000000000"],
      ]);
      expect(door.executions).to.equal(0);
      expect((await get(task.id)).result).to.deep.equal(task);
    });

    it("waits unread: the input is checked when it is paid", async () => {
      expect((await begin("roll", { low: "x" })).status.state).to.equal("input-required");
    });

    it("is completed by a payment, with the artifact and the receipts", async () => {
      const task = await begin("roll", { low: 4, high: 6 });
      const { result } = await submit(task.id, pay(task));
      expect(result).to.include({ id: task.id, contextId: task.contextId });
      expect(result.status.state).to.equal("completed");
      const { [KEY("status")]: status, [KEY("receipts")]: receipts, ...rest } = metadataOf(result);
      expect(status).to.equal("payment-completed");
      expect(receipts).to.have.length(1);
      expect(receipts[0]).to.include({ success: true, network: "eip155:8453" });
      expect(rest).to.deep.equal({});
      expect(result.artifacts[0].parts).to.deep.equal([{ kind: "data", data: { value: 4 } }]);
      expect((await get(task.id)).result).to.deep.equal(result);
      expect(door.executions).to.equal(1);
      expect(door.rails.base.moved.size).to.equal(1);
    });

    it("is paid as base64 text, by a payer of version 1, and in yen", async () => {
      const text = await begin("roll");
      const encoded = Buffer.from(JSON.stringify(pay(text))).toString("base64");
      expect((await submit(text.id, encoded)).result.status.state).to.equal("completed");
      const old = await begin("roll");
      const { payload } = pay(old) as Loose;
      const version1 = { x402Version: 1, scheme: "exact", network: "base", payload };
      expect((await submit(old.id, version1)).result.status.state).to.equal("completed");
      const yen = await begin("roll");
      const { accepts, resource } = metadataOf(yen)[KEY("required")];
      const { result } = await submit(yen.id, door.pay({ accepts: [accepts[1]], resource }));
      expect(metadataOf(result)[KEY("receipts")][0]).to.include({ success: true, network: "eip155:137" });
    });

    it("is completed at once, when the payment came with the first message", async () => {
      const payment = pay(await begin("roll"));
      const parts = [{ kind: "data", data: { skill: "roll", input: { low: 3, high: 6 } } }];
      const { result } = await send({ parts, metadata: { [KEY("payload")]: payment } });
      expect(result.status.state).to.equal("completed");
      expect(result.artifacts[0].parts[0].data).to.deep.equal({ value: 3 });
    });

    it("shows its result as text, where it is no object and the dialect's data must be one", async () => {
      door.handler = () => [1, 2];
      const task = await begin("listing");
      const { result } = await submit(task.id, pay(task));
      expect(result.artifacts[0].parts).to.deep.equal([{ kind: "text", text: "[1,2]" }]);
      const { result: modern } = await door.call("GetTask", { id: task.id });
      expect(modern.artifacts[0].parts).to.deep.equal([{ data: [1, 2], mediaType: "application/json" }]);
    });

    it("goes on waiting when its message brings no payment", async () => {
      const task = await begin("roll");
      const { result } = await send({ taskId: task.id, parts: [{ kind: "text", text: "please" }] });
      expect(result).to.deep.equal(task);
    });

    it("tells the log and the limits who paid what", async () => {
      const task = await begin("roll");
      const message = { taskId: task.id, metadata: { [KEY("payload")]: pay(task) } };
      const { calls } = await door.post({ jsonrpc: "2.0", id: 1, method: "message/send", params: { message } });
      expect(calls[0]).to.deep.include({ service: "roll" }).and.have.nested.property("receipt.success", true);
    });

    it("shows the handler who pays on which network", async () => {
      const seen: Loose[] = [];
      door.handler = ({ low }, { payer, network }) => {
        seen.push({ payer, network });
        return { value: low };
      };
      const task = await begin("roll");
      await submit(task.id, pay(task));
      expect(seen).to.deep.equal([{ payer: "0x1111111111111111111111111111111111111111", network: "eip155:8453" }]);
    });
  });

  describe("whose payment is refused", () => {
    const refused = async (
      payment: unknown,
      code: string,
      change: (task: Loose) => void = () => {},
    ): Promise<Loose> => {
      const task = await begin("roll");
      change(task);
      const { result } = await submit(task.id, typeof payment === "function" ? payment(task) : payment);
      expect(result.status.state).to.equal("input-required");
      const metadata = metadataOf(result);
      expect(metadata[KEY("status")]).to.equal("payment-failed");
      expect(metadata[KEY("error")]).to.equal(code);
      expect(metadata[KEY("required")].accepts).to.have.length(2);
      expect(door.executions).to.equal(0);
      return result;
    };
    const rejecting = (invalidReason: string) => () => {
      door.rails.base.script.verify = () => ({ isValid: false, invalidReason });
    };

    const payments: readonly [what: string, payment: unknown, code: string][] = [
      ["it is an empty object", {}, "INVALID_SIGNATURE"],
      ["it is no payment", "!!!", "INVALID_SIGNATURE"],
      ["it is a number", 5, "INVALID_SIGNATURE"],
      ["it is of version 3", (task: Loose) => ({ ...pay(task), x402Version: 3 }), "INVALID_SIGNATURE"],
      [
        "it is on another network",
        (task: Loose) => pay(task, (offer) => ({ ...offer, network: "eip155:1" })),
        "NETWORK_MISMATCH",
      ],
      [
        "it is of another amount",
        (task: Loose) => pay(task, (offer) => ({ ...offer, amount: "999" })),
        "INVALID_AMOUNT",
      ],
      ["it has run out", (task: Loose) => expired(pay(task)), "EXPIRED_PAYMENT"],
    ];
    for (const [what, payment, code] of payments) it(`says so when ${what}`, () => refused(payment, code));

    const reasons: readonly [reason: string, code: string][] = [
      ["insufficient_funds", "INSUFFICIENT_FUNDS"],
      ["invalid_exact_evm_payload_signature", "INVALID_SIGNATURE"],
      ["invalid_exact_evm_nonce_already_used", "DUPLICATE_NONCE"],
      ["invalid_exact_evm_payload_authorization_valid_before", "EXPIRED_PAYMENT"],
      ["blocked_by_policy", "SETTLEMENT_FAILED"],
    ];
    for (const [reason, code] of reasons)
      it(`says ${code} when the facilitator says ${reason}`, async () => {
        const result = await refused((task: Loose) => pay(task), code, rejecting(reason));
        expect(result.status.message.parts[0].text)
          .to.include(reason)
          .and.match(/nothing was charged/);
      });

    it("withholds the result when the settlement fails, and keeps the receipt of it", async () => {
      const task = await begin("roll");
      door.handler = () => ({ value: 424242 });
      door.rails.base.script.settle = (_payment, { network }) => ({
        ...{ success: false, errorReason: "insufficient_funds", transaction: "", network },
      });
      const { result } = await submit(task.id, pay(task));
      expect(metadataOf(result)[KEY("error")]).to.equal("INSUFFICIENT_FUNDS");
      expect(metadataOf(result)[KEY("receipts")]).to.have.length(1);
      expect(metadataOf(result)[KEY("receipts")][0]).to.include({ success: false, errorReason: "insufficient_funds" });
      expect(JSON.stringify(result)).not.to.include("424242");
      door.rails.base.script = {};
      const { result: paid } = await submit(task.id, pay(task));
      expect(metadataOf(paid)[KEY("receipts")].map(({ success }: Loose) => success)).to.deep.equal([false, true]);
    });

    it("is still good for another payment", async () => {
      const task = await refused(
        (waiting: Loose) => pay(waiting, (offer) => ({ ...offer, amount: "999" })),
        "INVALID_AMOUNT",
      );
      expect((await submit(task.id, pay(task))).result.status.state).to.equal("completed");
    });

    it("cannot be bought with a payment for another service, or with one that bought another call", async () => {
      const twin = await begin("twin");
      await refused(() => pay(twin), "INVALID_AMOUNT");
      const [first, second] = [await begin("roll"), await begin("roll", { low: 2, high: 6 })];
      const payment = pay(first);
      expect((await submit(first.id, payment)).result.status.state).to.equal("completed");
      const { result } = await submit(second.id, payment);
      expect(metadataOf(result)[KEY("error")]).to.equal("DUPLICATE_NONCE");
      expect(result.status.state).to.equal("input-required");
      expect(door.executions).to.equal(1);
    });
  });

  describe("that cannot be done", () => {
    it("is rejected for its input before anybody is asked or charged, and the payment stays good", async () => {
      const task = await begin("roll", { low: 6, high: 1 });
      const payment = pay(task);
      const { result } = await submit(task.id, payment);
      expect(result.status.state).to.equal("rejected");
      expect(result.status.message.parts[1].data.detail[0].msg).to.match(/high must not be below low/);
      expect(metadataOf(result)[KEY("status")]).to.equal("payment-failed");
      expect(door.rails.base.asked).to.include({ verify: 0, settle: 0 });
      const other = await begin("roll");
      expect((await submit(other.id, payment)).result.status.state).to.equal("completed");
    });

    it("fails with its handler, and is not charged", async () => {
      door.handler = () => {
        throw new Problem("upstream-failed", "The dice fell off the table");
      };
      const task = await begin("roll");
      const { result } = await submit(task.id, pay(task));
      expect(result.status.state).to.equal("failed");
      expect(result.status.message.parts[0].text).to.match(/The dice fell off the table\. Nothing was charged\.$/);
      expect(door.rails.base.asked.settle).to.equal(0);
    });

    it("goes on waiting when the facilitator is away, for the same payment too", async () => {
      const task = await begin("roll");
      const payment = pay(task);
      door.rails.base.script.verify = () => {
        throw new Problem("facilitator-unavailable");
      };
      const { result } = await submit(task.id, payment);
      expect(result.status.state).to.equal("input-required");
      expect(metadataOf(result)[KEY("status")]).to.equal("payment-required");
      door.rails.base.script = {};
      expect((await submit(task.id, payment)).result.status.state).to.equal("completed");
    });

    it("is not begun while no rail is up: a priced service is never free", async () => {
      const down = await openDoor({ down: true });
      const message = { parts: [{ kind: "data", data: { skill: "roll", input: INPUT } }] };
      const { error } = await down.call("message/send", { message });
      expect(error.code).to.equal(-50303);
      expect(down.executions).to.equal(0);
      down.close();
    });

    it("is still shown when no rail is up any more, without a challenge", async () => {
      const task = await begin("roll");
      const down = await openDoor({ down: true, store: door.store });
      const { result } = await down.call("tasks/get", { id: task.id });
      expect(result.status.state).to.equal("input-required");
      expect(metadataOf(result)).to.deep.equal({ [KEY("status")]: "payment-required" });
      down.close();
    });

    it("is rejected when its skill is not offered any more", async () => {
      const task = await begin("twin");
      const later = await openDoor({
        store: door.store,
        manifests: door.services.map(({ manifest }) => manifest).slice(0, 1),
      });
      const message = { taskId: task.id, metadata: { [KEY("payload")]: pay(task) } };
      const { result } = await later.call("message/send", { message });
      expect(result.status.state).to.equal("rejected");
      expect(result.status.message.parts[0].text).to.match(/not offered any more/);
      later.close();
    });
  });

  describe("whose payment has no known outcome", () => {
    const unknown = (): void => {
      door.rails.base.script.settle = () => {
        throw new Problem("facilitator-unavailable");
      };
      door.rails.base.script.find = () => ({ state: "open" });
    };

    it("is working, and never asks for another payment", async () => {
      unknown();
      const task = await begin("roll");
      const { result } = await submit(task.id, pay(task));
      expect(result.status.state).to.equal("working");
      expect(metadataOf(result)).to.deep.equal({ [KEY("status")]: "payment-submitted" });
      expect(result.status.message.parts[0].text).to.match(/do not pay again/);
      expect((await get(task.id)).result.status.state).to.equal("working");
      const other = await submit(task.id, pay(task));
      expect(other.error.code, "a second payment").to.equal(-32004);
      expect((await door.call("tasks/cancel", { id: task.id })).error.code).to.equal(-32002);
    });

    it("is completed by asking for it, once the money has moved", async () => {
      unknown();
      const task = await begin("roll", { low: 5, high: 6 });
      await submit(task.id, pay(task));
      door.rails.base.script.find = () => ({ state: "settled", transaction: "0xfeed" });
      const { result } = await get(task.id);
      expect(result.status.state).to.equal("completed");
      expect(result.artifacts[0].parts[0].data).to.deep.equal({ value: 5 });
      expect(metadataOf(result)[KEY("receipts")][0]).to.include({ success: true, transaction: "0xfeed" });
      expect(door.executions).to.equal(1);
    });

    it("waits for another payment, once it is known that this one is dead", async () => {
      unknown();
      const task = await begin("roll");
      await submit(task.id, pay(task));
      door.rails.base.script.find = () => ({ state: "dead" });
      const { result } = await get(task.id);
      expect(result.status.state).to.equal("input-required");
      expect(metadataOf(result)[KEY("status")]).to.equal("payment-failed");
      door.rails.base.script = {};
      expect((await submit(task.id, pay(result))).result.status.state).to.equal("completed");
    });
  });

  describe("that is worked on", () => {
    it("is shown as working, takes no other payment, and cannot be canceled", async () => {
      const started = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      door.handler = async ({ low }) => {
        started.resolve();
        await go.promise;
        return { value: low };
      };
      const task = await begin("roll");
      const payment = pay(task);
      const paid = submit(task.id, payment);
      await started.promise;
      expect((await get(task.id)).result.status.state).to.equal("working");
      expect((await submit(task.id, payment)).result.status.state, "the same payment again").to.equal("working");
      expect((await submit(task.id, pay(task))).error.code).to.equal(-32004);
      expect((await door.call("tasks/cancel", { id: task.id })).error.code).to.equal(-32002);
      go.resolve();
      expect((await paid).result.status.state).to.equal("completed");
      expect(door.executions).to.equal(1);
    });

    it("is executed and charged once, when fifty payments for it come at once", async () => {
      const task = await begin("roll");
      const payments = Array.from({ length: 50 }, () => pay(task));
      const answers = await Promise.all(payments.map((payment) => submit(task.id, payment)));
      expect(answers.filter(({ result }) => result?.status.state === "completed")).to.have.length(1);
      expect(door.executions).to.equal(1);
      expect(door.rails.base.moved.size).to.equal(1);
    });

    it("goes on after a crash, for whoever asks for it", async () => {
      const task = await begin("roll", { low: 6, high: 6 });
      await door.store.putIfAbsent(`a2a:bond:${task.id}`, { payment: pay(task) }); // All that a crash has left behind.
      const { result } = await get(task.id);
      expect(result.status.state).to.equal("completed");
      expect(result.artifacts[0].parts[0].data).to.deep.equal({ value: 6 });
    });

    it("is not written off as unpaid, when only its end could not be written down", async () => {
      const task = await begin("roll");
      const payment = pay(task);
      const { set } = door.store;
      door.store.set = (key, value, ttl) =>
        key === `a2a:task:${task.id}`
          ? Promise.reject(new Problem("unavailable", "The store is full"))
          : set(key, value, ttl);
      const { error } = await submit(task.id, payment);
      expect(error.code).to.equal(-50303);
      door.store.set = set;
      expect((await submit(task.id, pay(task))).error.code, "another payment").to.equal(-32004);
      expect((await get(task.id)).result.status.state).to.equal("completed");
      expect([door.executions, door.rails.base.moved.size]).to.deep.equal([1, 1]);
    });

    it("is stopped and not charged when its caller goes away", async () => {
      const gone = new AbortController();
      door.handler = () => {
        gone.abort();
        return new Promise(() => {});
      };
      const task = await begin("roll");
      const message = { taskId: task.id, metadata: { [KEY("payload")]: pay(task) } };
      const request = { jsonrpc: "2.0", id: 1, method: "message/send", params: { message } };
      const { body } = await door.post(request, {}, { signal: gone.signal });
      expect(body.result.status.state).to.equal("input-required");
      expect(metadataOf(body.result)).to.deep.equal({ [KEY("status")]: "payment-submitted" });
      expect(door.rails.base.asked.settle).to.equal(0);
      expect((await submit(task.id, pay(task))).error.code, "another payment").to.equal(-32004);
      expect((await send({ taskId: task.id })).result, "no offer of another one").to.deep.equal(body.result);
      door.handler = undefined;
      expect((await get(task.id)).result.status.state).to.equal("completed");
      expect(door.rails.base.moved.size).to.equal(1);
    });
  });

  describe("that has ended", () => {
    const ends: readonly [state: string, end: () => Promise<Loose>][] = [
      ["completed", () => begin("free")],
      ["rejected", () => begin("free", {})],
      ["canceled", async () => (await door.call("tasks/cancel", { id: (await begin("roll")).id })).result],
    ];
    for (const [state, end] of ends)
      it(`is ${state}: it takes no more messages, and is not canceled`, async () => {
        const task = await end();
        expect(task.status.state).to.equal(state);
        const { error } = await send({
          taskId: task.id,
          parts: [{ kind: "data", data: { skill: "free", input: INPUT } }],
        });
        expect(error.code).to.equal(-32004);
        expect(error.message).to.match(new RegExp(`is ${state} and takes no more messages`));
        expect((await door.call("tasks/cancel", { id: task.id })).error.code).to.equal(-32002);
        expect((await get(task.id)).result.status.state).to.equal(state);
      });

    it("is canceled by a client that rejects the payment", async () => {
      const task = await begin("roll");
      const { result } = await send({ taskId: task.id, metadata: { [KEY("status")]: "payment-rejected" } });
      expect(result.status.state).to.equal("canceled");
      expect(metadataOf(result)).to.deep.equal({ [KEY("status")]: "payment-rejected", [KEY("receipts")]: [] });
      expect((await submit(task.id, pay(task))).error.code).to.equal(-32004);
    });

    it("is forgotten after a quarter of an hour, and after a day when it was paid", async () => {
      const waiting = await begin("roll");
      const paid = await begin("roll");
      await submit(paid.id, pay(paid));
      door.clock.advance(16 * 60_000);
      expect((await get(waiting.id)).error.code).to.equal(-32001);
      door.clock.advance(23 * 3_600_000);
      expect((await get(paid.id)).result.status.state).to.equal("completed");
      door.clock.advance(3_600_000);
      expect((await get(paid.id)).error.code).to.equal(-32001);
    });
  });

  describe("and its context", () => {
    it("keeps the context that the client has named, and lets later messages name it or not", async () => {
      const parts = [{ kind: "data", data: { skill: "roll", input: INPUT } }];
      const { result: task } = await send({ parts, contextId: "ours" });
      expect(task.contextId).to.equal("ours");
      for (const contextId of [undefined, "", "ours"])
        expect((await send({ taskId: task.id, contextId })).result.id).to.equal(task.id);
      const { error } = await send({ taskId: task.id, contextId: "another" });
      expect(error.code).to.equal(-32602);
    });

    it("is found under its own id alone", async () => {
      await begin("roll");
      for (const id of ["x", "00000000-0000-4000-8000-000000000000", "__proto__"])
        expect((await get(id)).error.code).to.equal(-32001);
      for (const id of [undefined, null, "", 5, {}, "x".repeat(129), "\ud800"])
        expect((await door.call("tasks/get", { id })).error.code).to.equal(-32602);
      expect((await send({ taskId: "x" })).error.code).to.equal(-32001);
      expect((await door.call("tasks/cancel", { id: "x" })).error.code).to.equal(-32001);
    });
  });
});

function expired(payment: Loose): Loose {
  const { authorization } = payment.payload;
  return { ...payment, payload: { ...payment.payload, authorization: { ...authorization, validBefore: "1" } } };
}
