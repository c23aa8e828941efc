import { expect } from "chai";
import { follow } from "../../../runtime/cli/call/follow.ts";
import { run } from "./run.ts";
import { PAID, type Said, type Seller, startSeller } from "./seller.ts";

const poll = (body: object): Said => ({ status: 200, body });

describe("payphone call for a job", () => {
  let seller: Seller;
  let statusUrl: string;
  beforeEach(async () => {
    seller = await startSeller();
    statusUrl = `${seller.url}/v1/jobs/1`;
    seller.script.answers = [{ ...PAID, body: { job_id: "1", status: "accepted", status_url: statusUrl } }];
  });
  afterEach(() => seller.stop());
  const polls = (): number => seller.met.filter(({ url }) => url === "/v1/jobs/1").length;

  it("says where it stands, and does not wait unless it is told to", async () => {
    const { code, out, err } = await run({ url: seller.url });
    expect([code, JSON.parse(out).job_id, polls()]).to.deep.equal([0, "1", 0]);
    expect(err).to.contain(`A job: --follow waits for it; ${statusUrl} shows how it stands, free of charge.`);
  });

  it("follows it to its deliverable", async () => {
    const text = '{"status":"DELIVERED","deliverable":{"sum":12345678901234567890}}';
    seller.script.polls = [{ status: 200, text }];
    const { code, out } = await run({ url: seller.url, follow: true });
    expect([code, out.replaceAll(/\s/g, "")]).to.deep.equal([0, text]);
  });

  it("follows it also from a call that asks for its status, which is free", async () => {
    const ended = { job_id: "1", status: "DELIVERED", deliverable: 7 };
    const going = poll({ job_id: "1", status: "IN_PROGRESS", step: "count" });
    const call = { service: "/v1/jobs/1", url: seller.url, method: "GET", input: undefined };
    seller.script.polls = [going, going, poll(ended)]; // The first one is read as a catalogue.
    const { code, out, err } = await run({ ...call, follow: true });
    expect([code, JSON.parse(out), polls()], err).to.deep.equal([0, ended, 2]);
    expect(err).to.contain(`Following ${statusUrl}`);
    seller.script.polls = [going];
    const once = await run(call);
    expect([once.code, JSON.parse(once.out).status, polls()]).to.deep.equal([0, "IN_PROGRESS", 3]);
    seller.script.polls = [poll({ job_id: "1", status: "FAILED", error: "no source answered" })];
    expect((await run({ ...call, follow: true })).code).to.equal(1);
    expect(seller.paid()).to.deep.equal([]);
  });

  it("tells each step once, and waits out what is no status", async () => {
    seller.script.polls = [
      poll({ status: "DISPATCHING", eta_seconds: 9 }),
      { status: 429, body: {} },
      undefined,
      poll({ status: "IN_PROGRESS", step: "count\u001b[2J", eta_seconds: 8 }),
      poll({ status: "IN_PROGRESS", step: "count\u001b[2J", eta_seconds: 7 }),
      poll({ status: "DELIVERED" }),
    ];
    const steps: string[] = [];
    const onStep = (text: string): void => void steps.push(text);
    const { signal } = new AbortController();
    await follow(statusUrl, { onStep, signal, pauseMs: 1 });
    expect(steps[0]).to.equal("DISPATCHING (about 9 s left)");
    expect(steps[1]).to.equal("status 429");
    expect(steps[2]).to.match(/does not answer/);
    expect(steps.slice(3)).to.deep.equal(["count [2J (about 8 s left)"]);
  });

  it("ends where the URL gives no status for good, and says that the job may go on", async () => {
    const gone: Said = { status: 404, body: { title: "Not found" } };
    const watch = (): Promise<unknown> =>
      follow(statusUrl, { onStep: () => {}, signal: AbortSignal.timeout(10_000), pauseMs: 1 });
    for (const said of [gone, { status: 403, body: {} }, { status: 200, text: "<p>Moved</p>" }]) {
      seller.script.polls = [said];
      const error = await watch().catch((reason: unknown) => reason as Error);
      expect((error as Error).message).to.equal(
        `${statusUrl} gives no status (HTTP ${said.status}). The job may go on: ask again later, or ask the seller`,
      );
    }
    seller.script.polls = [
      ...Array<Said>(20).fill(gone),
      poll({ status: "IN_PROGRESS" }),
      ...Array<Said>(20).fill(gone),
    ];
    seller.script.polls.push(...Array<Said>(50).fill({ status: 503, body: {} }), poll({ status: "DELIVERED" }));
    expect(await watch()).to.deep.equal({ status: "DELIVERED" });
  });

  it("knows the ends of other sellers' jobs, and waits ten minutes for one that it does not know", async () => {
    for (const [status, exit] of [
      ["completed", 0],
      ["Cancelled", 1],
    ]) {
      seller.script.polls = [poll({ status, result: 4 })];
      const { code, out } = await run({ url: seller.url, follow: true });
      expect([code, JSON.parse(out)]).to.deep.equal([exit, { status, result: 4 }]);
    }
    const watch = (): Promise<unknown> =>
      follow(statusUrl, { onStep: () => {}, signal: AbortSignal.timeout(60_000), pauseMs: 0 }).catch(
        (reason: unknown) => (reason as Error).message,
      );
    const growing = Array.from({ length: 400 }, (_, done) => poll({ status: "working", done }));
    seller.script.polls = [...growing, poll({ status: "ready" })];
    const before = polls();
    expect(await watch()).to.equal(
      `${statusUrl} has said "ready" for ten minutes. That may be the job's end, or it may go on: ask again later, or ask the seller`,
    );
    expect(polls() - before).to.equal(400 + 1 + 300);
    seller.script.polls = [{ status: 503, body: {} }];
    expect(await watch()).to.include("gives no status (HTTP 503). The job may go on");
    seller.script.polls = [...Array<Said>(400).fill(poll({ status: "IN_PROGRESS" })), poll({ status: "DELIVERED" })];
    expect(await watch(), "payphone's own word").to.deep.equal({ status: "DELIVERED" });
  });

  it("is given up when the time of --wait is over, and says that it goes on, however the answers change", async () => {
    seller.script.polls = Array.from({ length: 400 }, (_, done) =>
      poll({ status: "working", step: `${done} done`, done }),
    );
    const before = polls();
    const { code, err } = await run({ url: seller.url, follow: true, followSeconds: 1 });
    expect([code, polls() - before], "no second poll within a second").to.deep.equal([4, 1]);
    expect(err).to.contain(
      `payphone: the job has not ended in the time that --wait allows (0 done). It goes on: ${statusUrl} shows how it stands`,
    );
    expect(err).not.to.contain("--resume");
  });

  it("fails with the job's own words, and says what was paid back", async () => {
    seller.script.polls = [poll({ status: "FAILED", error: "no source answered", refund_tx: "0xab" })];
    const { code, out, err } = await run({ url: seller.url, follow: true });
    expect([code, JSON.parse(out).refund_tx]).to.deep.equal([1, "0xab"]);
    expect(err).to.contain("the job is FAILED: no source answered; paid back in 0xab");
    seller.script.polls = [poll({ status: "FAILED", error: "no source answered", refund_pending: "manual" })];
    const other = await run({ url: seller.url, follow: true });
    expect(other.err).to.contain("the job is FAILED: no source answered; the seller pays it back by hand");
    seller.script.polls = [poll({ status: "FAILED", error: "no source answered", refund_tx: null })];
    const early = await run({ url: seller.url, follow: true });
    expect(early.err, "not paid back yet").to.contain(`whether it is paid back, ${statusUrl} will tell`);
    for (const lost of [{ status: "FAILED" }, { status: "UNKNOWN", refund_tx: null }]) {
      seller.script.polls = [poll({ ...lost, error: "no source answered" })];
      const { err: said } = await run({ url: seller.url, follow: true });
      expect(said, "of a refund nothing").to.match(new RegExp(`the job is ${lost.status}: no source answered$`));
    }
  });

  it("says that it is paid for and goes on when the buyer leaves, also without a receipt", async () => {
    seller.script.answers = [{ status: 200, body: { job_id: "1", status: "accepted", status_url: statusUrl } }];
    seller.script.polls = [poll({ status: "IN_PROGRESS", step: "count" })];
    const stop = new AbortController();
    const heard = (line: string): void => void (line === "count" && stop.abort());
    const { code, err } = await run({ url: seller.url, follow: true }, { signal: stop.signal, heard });
    expect(code).to.equal(1);
    expect(err).to.contain(`interrupted: it is paid for, and goes on; ${statusUrl} shows how it stands`);
    expect(err).not.to.contain("nothing was paid");
  });

  it("asks no other server than the one that was paid", async () => {
    const body = { job_id: "1", status: "accepted", status_url: "http://169.254.169.254/latest" };
    seller.script.answers = [{ ...PAID, body }];
    const { code, err } = await run({ url: seller.url, follow: true });
    expect(code).to.equal(0);
    expect(err).not.to.contain("Following");
    expect(err).to.match(/\nNot followed: http:\/\/169\.254\.169\.254\/latest is at another address than the call$/);
  });
});
