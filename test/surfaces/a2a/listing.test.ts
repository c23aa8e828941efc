import { expect } from "chai";
import { toDamaged } from "../../../runtime/core/damage.ts";
import { move } from "../../support/chains/scripted-rail.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { BOUNDLESS, type Door, openDoor, TRUSTING, toProof } from "./served/support/door.ts";

const INPUT = { low: 1, high: 6 };
const PAYER = `0x${"a1".repeat(20)}`;
const STRANGER = `0x${"b2".repeat(20)}`;

describe("a list of tasks", () => {
  let door: Door;
  beforeEach(async () => {
    door = await openDoor({ budgets: BOUNDLESS, signInsOf: TRUSTING });
  });
  afterEach(() => door.close());

  const send = async (message: object): Promise<Loose> => {
    const call = { message: { messageId: "m", role: "ROLE_USER", parts: [], ...message } };
    return (await door.call("SendMessage", call)).result;
  };
  const begin = async (skill: string, contextId?: string): Promise<Loose> =>
    (await send({ parts: [{ data: { skill, input: INPUT } }], ...(contextId && { contextId }) })).task;
  const buy = async (payer = PAYER, contextId?: string): Promise<Loose> => {
    const task = await begin("roll", contextId);
    const payment = door.pay(task.status.message.metadata["x402.payment.required"]) as Loose;
    payment.payload.authorization.from = payer;
    return (await send({ taskId: task.id, metadata: { "x402.payment.payload": payment } })).task;
  };
  const list = (params: object, headers: Record<string, string> = {}): Promise<Loose> =>
    door.call("ListTasks", params, headers);
  const idsOf = ({ result }: Loose): string[] => result.tasks.map(({ id }: Loose) => id);
  const signIn = (address = PAYER, changes: object = {}): Record<string, string> => {
    const proof = JSON.stringify({ ...toProof(door, address), ...changes });
    return { "sign-in-with-x": Buffer.from(proof).toString("base64") };
  };

  describe("of a context that this server has named", () => {
    it("passes over a task whose record is damaged", async () => {
      const [first, second] = [await begin("free"), await begin("free")];
      const { get } = door.store;
      door.store.get = async (key) => (key.includes(first.id) ? Promise.reject(toDamaged(key, "It is cut")) : get(key));
      expect((await list({ contextId: first.contextId })).result.tasks).to.deep.equal([]);
      expect(idsOf(await list({ contextId: second.contextId }))).to.deep.equal([second.id]);
    });

    it("has its tasks, the newest first, without challenges, histories and artifacts", async () => {
      const first = await begin("free");
      const { contextId } = first;
      door.clock.advance(1000);
      const second = await begin("roll", contextId);
      door.clock.advance(1000);
      const third = await buy(PAYER, contextId);
      const answer = await list({ contextId });
      expect(idsOf(answer)).to.deep.equal([third.id, second.id, first.id]);
      expect(answer.result).to.include({ nextPageToken: "", pageSize: 3, totalSize: 3 });
      const states = answer.result.tasks.map(({ status }: Loose) => status.state);
      expect(states).to.deep.equal(["TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED"]);
      for (const task of answer.result.tasks) {
        expect(task).not.to.have.any.keys("artifacts", "history", "kind");
        expect(JSON.stringify(task)).not.to.include("x402.payment.required");
      }
    });

    it("has artifacts and histories where they are asked for", async () => {
      const task = await begin("free");
      const { result } = await list({ contextId: task.contextId, includeArtifacts: true, historyLength: 1 });
      expect(result.tasks).to.deep.equal([(await door.call("GetTask", { id: task.id })).result]);
    });

    it("begins with a message that asks for no task", async () => {
      const { message } = await send({ parts: [{ text: "Hello, who is there?" }] });
      const task = await begin("free", message.contextId);
      expect(idsOf(await list({ contextId: message.contextId }))).to.deep.equal([task.id]);
    });

    it("keeps what was paid for when its unpaid tasks are forgotten", async () => {
      const { contextId } = await begin("roll");
      const bought = await buy(PAYER, contextId);
      door.clock.advance(2 * 60 * 60_000);
      expect(idsOf(await list({ contextId }))).to.deep.equal([bought.id]);
    });
  });

  describe("for somebody else", () => {
    it("is empty: without a context, in a context that is not known, and in another one", async () => {
      await buy();
      const other = await begin("free");
      for (const params of [{}, { contextId: "unknown" }, { contextId: `${other.contextId}x` }]) {
        const { result } = await list(params);
        expect(result).to.deep.equal({ tasks: [], nextPageToken: "", pageSize: 0, totalSize: 0 });
      }
    });

    it("has nothing of a context that a client has named, since its name can be guessed", async () => {
      await buy(PAYER, "conversation-1");
      await begin("free", "conversation-1");
      expect(idsOf(await list({ contextId: "conversation-1" }))).to.deep.equal([]);
      expect(idsOf(await list({ contextId: "conversation-1" }, signIn(STRANGER)))).to.deep.equal([]);
    });
  });

  describe("for a wallet that signs in", () => {
    it("has what it has paid for, in all contexts or in one, and nothing of other wallets", async () => {
      const one = await buy(PAYER, "conversation-1");
      door.clock.advance(1000);
      const two = await buy();
      await buy(STRANGER, "conversation-1");
      expect(idsOf(await list({}, signIn()))).to.deep.equal([two.id, one.id]);
      expect(idsOf(await list({ contextId: "conversation-1" }, signIn()))).to.deep.equal([one.id]);
    });

    it("has what it has signed for, whomever the facilitator names: that one has nothing", async () => {
      const { base } = door.rails;
      base.script.settle = (payment, offer) => ({ ...move(base, payment, offer), payer: STRANGER });
      const { id } = await buy();
      expect([idsOf(await list({}, signIn())), idsOf(await list({}, signIn(STRANGER)))]).to.deep.equal([[id], []]);
    });

    it("does not get the tasks of those who have copied its payment", async () => {
      const task = await begin("roll");
      const payment = door.pay(task.status.message.metadata["x402.payment.required"]) as Loose;
      payment.payload.authorization.from = PAYER;
      const metadata = { "x402.payment.payload": payment };
      await send({ taskId: task.id, metadata });
      await send({ parts: [{ data: { skill: "roll", input: INPUT } }], metadata });
      expect(idsOf(await list({}, signIn()))).to.deep.equal([task.id]);
    });

    it("is refused with the reason and a new nonce when the proof does not hold", async () => {
      const used = signIn();
      await list({}, used);
      for (const headers of [used, signIn(PAYER, { domain: "other.example" }), { "sign-in-with-x": "no proof" }]) {
        const { error } = await list({}, headers);
        expect(error.code).to.equal(-40201);
        expect(error.message).to.match(/^sign_in_refused: /);
        const [{ value, ...typed }] = error.data;
        expect(typed, "a detail as 1.0 wants it").to.deep.equal({
          "@type": "type.googleapis.com/google.protobuf.Struct",
        });
        expect(value.extensions["sign-in-with-x"].info.nonce).to.match(/^[0-9a-f]{24}$/);
      }
    });
  });

  describe("in pages", () => {
    it("shows each task once, the wallet's proof being needed for the first page only", async () => {
      const bought: string[] = [];
      for (let at = 0; at < 5; at += 1) {
        bought.unshift((await buy()).id);
        door.clock.advance(1000);
      }
      const first = await list({ pageSize: 2 }, signIn());
      expect(first.result).to.include({ pageSize: 2, totalSize: 5 });
      const second = await list({ pageSize: 2, pageToken: first.result.nextPageToken });
      const third = await list({ pageSize: 2, pageToken: second.result.nextPageToken });
      expect(third.result).to.include({ pageSize: 1, totalSize: 5, nextPageToken: "" });
      expect([first, second, third].flatMap(idsOf)).to.deep.equal(bought);
    });

    it("shows 50 tasks unless another size is asked for", async () => {
      const { contextId } = await begin("free");
      for (let at = 0; at < 59; at += 1) await begin("free", contextId);
      const { result } = await list({ contextId });
      expect(result).to.include({ pageSize: 50, totalSize: 60 });
      const rest = await list({ contextId, pageToken: result.nextPageToken });
      expect(rest.result).to.include({ pageSize: 10, nextPageToken: "" });
    });

    it("refuses a token that belongs to another wallet", async () => {
      for (let at = 0; at < 3; at += 1) await buy();
      const { nextPageToken: pageToken } = (await list({ pageSize: 1 }, signIn())).result;
      expect((await list({ pageSize: 1, pageToken }, signIn(STRANGER))).error).to.include({ code: -32602 });
      expect(
        idsOf(await list({ pageSize: 1, pageToken }, signIn(PAYER.toUpperCase().replace("X", "x")))),
      ).to.have.length(1);
    });

    it("refuses a token that belongs to other filters, or is over", async () => {
      const { contextId } = await begin("free");
      await begin("free", contextId);
      const { nextPageToken: pageToken } = (await list({ contextId, pageSize: 1 })).result;
      for (const params of [{ pageToken }, { pageToken, contextId, status: "TASK_STATE_FAILED" }])
        expect((await list(params)).error.code).to.equal(-32602);
      door.clock.advance(16 * 60_000);
      expect((await list({ pageToken, contextId })).error.code).to.equal(-32602);
    });
  });

  describe("with filters", () => {
    it("has the tasks of one state", async () => {
      const done = await begin("free");
      const { contextId } = done;
      await begin("roll", contextId);
      const at = async (status: string): Promise<string[]> => idsOf(await list({ contextId, status }));
      expect(await at("TASK_STATE_COMPLETED")).to.deep.equal([done.id]);
      for (const status of ["TASK_STATE_WORKING", "TASK_STATE_SUBMITTED", "TASK_STATE_AUTH_REQUIRED"])
        expect(await at(status)).to.deep.equal([]);
      expect(await at("TASK_STATE_UNSPECIFIED")).to.have.length(2);
    });

    it("has the tasks that were written at a time or later", async () => {
      const old = await begin("free");
      const { contextId } = old;
      door.clock.advance(5000);
      const recent = await begin("free", contextId);
      const since = async (statusTimestampAfter: string): Promise<string[]> =>
        idsOf(await list({ contextId, statusTimestampAfter }));
      expect(await since(recent.status.timestamp)).to.deep.equal([recent.id]);
      expect(await since("2020-01-01T00:00:00.123456+02:00")).to.deep.equal([recent.id, old.id]);
    });

    for (const params of [
      { pageSize: 0 },
      { pageSize: -1 },
      { pageSize: 101 },
      { pageSize: 1.5 },
      { pageSize: "10" },
      { pageToken: "invalid" },
      { pageToken: 5 },
      { status: "completed" },
      { status: 3 },
      { historyLength: -1 },
      { statusTimestampAfter: "-1" },
      { statusTimestampAfter: "2026-13-45T00:00:00Z" },
      { statusTimestampAfter: 1763800000000 },
      { includeArtifacts: "yes" },
      { contextId: {} },
      { contextId: "\ud800" },
    ])
      it(`refuses ${JSON.stringify(params)} with -32602`, async () => {
        const { error } = await list(params);
        expect(error.code).to.equal(-32602);
        expect(error.message).to.include(Object.keys(params)[0]);
      });
  });
});
