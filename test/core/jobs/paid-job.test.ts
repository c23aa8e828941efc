import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { move, refuses } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openStage, type Stage } from "./stage.ts";

const PAYER = "0x1111111111111111111111111111111111111111";

describe("a paid job", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(() => stage.close());

  const inLine = (): number => [...stage.store.entries.keys()].filter((key) => key.startsWith("queue:")).length;

  it("costs what its challenge says, whatever the body looks like, and is not on record before it is paid", async () => {
    expect((await stage.post("/v1/search", {})).status).to.equal(402);
    expect((await stage.post("/v1/search", { what: "x" })).status).to.equal(402);
    expect(stage.ids()).to.deep.equal([]);
  });

  it("is not asked for, nor charged, with an input that does not fit", async () => {
    const response = await stage.post("/v1/search", { what: 5 }, await stage.pay());
    expect(response.status).to.equal(422);
    expect([stage.rail.asked.verify, stage.ids().length]).to.deep.equal([0, 0]);
  });

  it("is not sold while its work is known to fail", async () => {
    stage.ready = () => Promise.reject(new Problem("unavailable", "There is no gas"));
    const payment = await stage.pay();
    const response = await stage.post("/v1/search", { what: "x" }, payment);
    expect(await response.json()).to.include({ status: 503, code: "unavailable", detail: "There is no gas" });
    expect([stage.rail.asked.settle, stage.ids().length]).to.deep.equal([0, 0]);
    stage.ready = async () => {};
    expect((await stage.post("/v1/search", { what: "x" }, payment)).status, "the same payment").to.equal(200);
  });

  it("is on record before the money moves, and is not worked on until it has moved", async () => {
    stage.rail.script.settle = async (payment, offer) => {
      expect(stage.ids()).to.have.length(1);
      expect(inLine()).to.equal(0);
      expect((await stage.status(stage.ids()[0] as string)).status).to.equal("UNKNOWN");
      return move(stage.rail, payment, offer);
    };
    const response = await stage.post("/v1/search", { what: "needle" }, await stage.pay());
    expect(response.status).to.equal(200);
    const accepted = (await response.json()) as { job_id: string; status_url: string };
    expect(accepted).to.deep.equal({
      job_id: stage.ids()[0],
      status: "accepted",
      status_url: `${new URL(response.url).origin}/v1/search/${stage.ids()[0]}`,
      eta_seconds: 120,
    });
    expect(response.headers.get("payment-response")).to.be.a("string");
    const told = await stage.ended(accepted.job_id);
    expect(told).to.include({ status: "DELIVERED", error: null, refund_tx: null, refund_pending: null });
    expect(told.deliverable).to.deep.equal({ found: "needle" });
    expect(await (await fetch(accepted.status_url)).json()).to.deep.equal(told);
    expect(stage.refunds).to.deep.equal([]);
  });

  it("is never worked on when its settlement is refused, and keeps nobody else out", async () => {
    await stage.restart({ job: { queue_limit: 2 } });
    stage.rail.script.settle = refuses();
    for (let count = 0; count < 5; count += 1) {
      const response = await stage.post("/v1/search", { what: "x" }, await stage.pay());
      expect(response.status).to.equal(402);
    }
    delete stage.rail.script.settle;
    await stage.ended(await stage.buy("paid"));
    expect(stage.attempts).to.deep.equal(["paid"]);
    expect(inLine()).to.equal(0);
  });

  it("begins once when its settlement is found later, and tells the same id to the same payment", async () => {
    stage.rail.script.settle = (payment, offer) => {
      move(stage.rail, payment, offer);
      throw new Error("timeout");
    };
    stage.rail.script.find = () => ({ state: "open" });
    const payment = await stage.pay();
    const unknown = await stage.post("/v1/search", { what: "late" }, payment);
    expect(unknown.status).to.equal(503);
    expect(await unknown.json()).to.have.property("code", "settlement-unknown");
    expect([stage.attempts, inLine()]).to.deep.equal([[], 0]);
    delete stage.rail.script.find;
    const [id] = stage.ids() as [string];
    await stage.ended(id); // The reconciler has looked again; nobody has asked.
    const again = await stage.post("/v1/search", { what: "late" }, payment);
    expect(await again.json()).to.have.property("job_id", id);
    expect([stage.attempts, stage.rail.moved.size]).to.deep.equal([["late"], 1]);
  });

  it("knows whom to refund even when its settlement was found by looking", async () => {
    stage.rail.script.settle = (payment, offer) => {
      move(stage.rail, payment, offer);
      throw new Error("timeout");
    };
    stage.work = () => {
      throw new Error("broken");
    };
    await stage.ended(await stage.buy("x"));
    await eventually(() => stage.refunds.length === 1);
    expect(stage.refunds[0]?.payment).to.deep.include({ payer: PAYER, amount: "1000", network: "eip155:8453" });
    expect(stage.refunds[0]?.payment.transaction).to.match(/^0x/);
  });

  it("is paid back to whoever has signed the payment, whomever the facilitator names", async () => {
    const other = "0x3333333333333333333333333333333333333333";
    stage.rail.script.verify = () => ({ isValid: true, payer: other });
    stage.rail.script.settle = (payment, offer) => ({ ...move(stage.rail, payment, offer), payer: other });
    stage.work = () => {
      throw new Error("broken");
    };
    await stage.ended(await stage.buy("x"));
    await eventually(() => stage.refunds.length === 1);
    expect(stage.refunds[0]?.payment).to.have.property("payer", PAYER);
  });

  it("is the same job for the same payment, however often it is sent", async () => {
    const payment = await stage.pay();
    const answers: unknown[] = [];
    for (let count = 0; count < 5; count += 1)
      answers.push(await (await stage.post("/v1/search", { what: "once" }, payment)).json());
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).to.equal(1);
    await stage.ended((answers[0] as { job_id: string }).job_id);
    expect([stage.attempts, stage.rail.asked.settle]).to.deep.equal([["once"], 1]);
    expect((await stage.post("/v1/search", { what: "twice" }, payment)).status).to.equal(409);
  });

  it("is not charged when the line is full, and is sold again when there is a place", async () => {
    const end = Promise.withResolvers<void>();
    await stage.restart({ job: { queue_limit: 2 } });
    stage.work = async ({ what }) => {
      await end.promise;
      return { found: what };
    };
    const ids = [await stage.buy("a"), await stage.buy("b")];
    const payment = await stage.pay();
    const refused = await stage.post("/v1/search", { what: "c" }, payment);
    expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([503, "60"]);
    expect((await refused.json()) as object).to.include({ code: "unavailable" });
    expect([stage.rail.asked.settle, stage.rail.moved.size]).to.deep.equal([2, 2]);
    end.resolve();
    for (const id of ids) await stage.ended(id);
    await eventually(() => inLine() === 0);
    expect((await stage.post("/v1/search", { what: "c" }, payment)).status).to.equal(200);
  });

  it("has a place in line before it is settled: of many at once, no more are charged than there are places", async () => {
    const end = Promise.withResolvers<void>();
    await stage.restart({ job: { queue_limit: 3 } });
    stage.work = async ({ what }) => {
      await end.promise;
      return { found: what };
    };
    const all = Promise.withResolvers<void>();
    stage.rail.script.settle = async (payment, offer) => {
      await all.promise;
      return move(stage.rail, payment, offer);
    };
    const payments = await Promise.all(Array.from({ length: 20 }, () => stage.pay()));
    const answers = payments.map((payment, at) => stage.post("/v1/search", { what: `${at}` }, payment));
    await eventually(() => stage.rail.asked.verify === 20);
    all.resolve();
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([...Array(3).fill(200), ...Array(17).fill(503)]);
    expect(stage.rail.moved.size).to.equal(3);
    end.resolve();
  });

  it("takes no place of another service while it is settled", async () => {
    await stage.restart({ job: { queue_limit: 1 } });
    const settled = Promise.withResolvers<void>();
    stage.rail.script.settle = async (payment, offer) => {
      await settled.promise;
      return move(stage.rail, payment, offer);
    };
    const paid = stage.post("/v1/search", { what: "paid" }, await stage.pay());
    await eventually(() => stage.rail.asked.settle === 1);
    expect((await stage.post("/v1/errand", { what: "free" })).status).to.equal(200);
    settled.resolve();
    expect((await paid).status).to.equal(200);
  });

  for (const [method, prefix] of [
    ["putIfAbsent", "job-begun:"],
    ["set", "job:"],
    ["get", "job-end:"],
    ["putIfAbsent", "queue:search:"],
  ] as const)
    it(`is not lost when the store fails after the settlement (${method} ${prefix}), and begins once`, async () => {
      const payment = await stage.pay();
      stage.rail.script.settle = (paid, offer) => {
        stage.fail(method, prefix);
        return move(stage.rail, paid, offer);
      };
      const response = await stage.post("/v1/search", { what: "kept" }, payment);
      expect(response.status).to.equal(503);
      expect(await response.json()).to.have.property("code", "settlement-unknown");
      const again = await stage.post("/v1/search", { what: "kept" }, payment);
      expect(again.status).to.equal(200);
      await stage.ended(((await again.json()) as { job_id: string }).job_id);
      expect([stage.attempts, stage.rail.moved.size]).to.deep.equal([["kept"], 1]);
    });

  it("is not charged when it cannot be put on record, or the line cannot be counted", async () => {
    stage.fail("set", "job:");
    const payment = await stage.pay();
    expect((await stage.post("/v1/search", { what: "x" }, payment)).status).to.equal(503);
    expect(stage.rail.asked.settle).to.equal(0);
    expect((await stage.post("/v1/search", { what: "x" }, payment)).status).to.equal(200);
  });
});
