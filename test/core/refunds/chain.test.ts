import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { openRefundDesk } from "./desk.ts";
import { failedJob, PRICE } from "./rail.ts";

describe("a refund and a chain in trouble", () => {
  const desk = openRefundDesk();
  const { createProcess, openRefund, expectPaidOnce, expectDelayed, balanceOf, sentBy, record } = desk;
  /** Waits for so many more attempts that do not end it. */
  const untilDelayed = (times: number): Promise<unknown> => {
    const delays = (): number => desk.events.filter((event) => event === "refund.delayed").length;
    const enough = delays() + times;
    return eventually(() => delays() >= enough);
  };

  it("is not sent a second time while the first is on its way", async () => {
    await desk.stage.chain.rpc("evm_setAutomine", [false]);
    const { refunds, job } = await openRefund({ attemptMs: 1000 });
    const sent = (): unknown[] =>
      desk.proxy.params.filter((_, at) => desk.proxy.calls[at] === "eth_sendRawTransaction");
    await eventually(() => sent().length > 0);
    await untilDelayed(3);
    expect(new Set(sent().map((params) => JSON.stringify(params))).size, "signed forms").to.equal(1);
    expect(await sentBy(desk.treasury.address)).to.equal(1);
    await desk.stage.chain.rpc("evm_mine", []);
    await expectPaidOnce(refunds, job);
    expect(await sentBy(desk.treasury.address)).to.equal(1);
  });

  it("says that coins for gas are lacking where its transaction waits for them, and is made once there are some", async () => {
    const { chain } = desk.stage;
    await chain.rpc("evm_setAutomine", [false]);
    const { refunds, job } = await openRefund({ attemptMs: 1000 });
    await eventually(async () => (await sentBy(desk.treasury.address)) === 1);
    await chain.setBalance(desk.treasury.address, 1n);
    await expectDelayed(job, /^The treasury 0x\w+ on Base has too little of the chain's coin to pay for gas$/);
    await chain.setBalance(desk.treasury.address, 10n ** 20n);
    await chain.rpc("evm_setAutomine", [true]);
    await chain.rpc("evm_mine", []);
    await expectPaidOnce(refunds, job);
    expect(await sentBy(desk.treasury.address)).to.equal(1);
  });

  it("is not sent a second time by the process that follows while the first is on its way", async () => {
    const job = failedJob();
    // Most nodes estimate by their latest block, which does not know of what waits.
    const gas = { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x186a0" }) };
    desk.proxy.intervene((method) => (method === "eth_estimateGas" ? gas : "pass"));
    await desk.stage.chain.rpc("evm_setAutomine", [false]);
    await createProcess({ attemptMs: 1000 }).open(job);
    await eventually(async () => (await sentBy(desk.treasury.address)) === 1);
    await desk.closeAll();
    const next = createProcess({ attemptMs: 1000 });
    next.start();
    await untilDelayed(2);
    expect(await sentBy(desk.treasury.address)).to.equal(1);
    await desk.stage.chain.rpc("evm_mine", []);
    await expectPaidOnce(next, job);
    expect(await sentBy(desk.treasury.address)).to.equal(1);
  });

  it("waits for a node that is away", async () => {
    desk.proxy.intervene(() => "lose");
    const { refunds, job } = await openRefund();
    await expectDelayed(job, /Base chain could not be asked/);
    desk.proxy.intervene(() => "pass");
    await expectPaidOnce(refunds, job);
  });

  for (const method of ["eth_sendRawTransaction", "eth_getTransactionReceipt", "eth_getLogs", "eth_call"])
    it(`is made once when the answers to ${method} are lost`, async () => {
      let lost = 0;
      desk.proxy.intervene((asked) => (asked === method && lost++ < 8 ? "lose-answer" : "pass"));
      const { refunds, job } = await openRefund();
      await expectPaidOnce(refunds, job);
      expect(lost).to.be.above(0);
    });

  it("is made again when a reorganisation has taken it back, and is on the chain once in the end", async () => {
    const job = failedJob();
    const before = await desk.stage.chain.rpc("evm_snapshot", []);
    const refunds = createProcess();
    await refunds.open(job);
    await eventually(async () => (await refunds.status(job.id)).refund_tx !== null);
    await desk.stage.chain.rpc("evm_setAutomine", [false]);
    await desk.stage.chain.rpc("evm_revert", [before]);
    await eventually(async () => (await refunds.status(job.id)).refund_tx === null);
    expect(desk.events).to.include("refund.taken-back");
    await desk.stage.chain.rpc("evm_setAutomine", [true]);
    await desk.stage.chain.rpc("evm_mine", []);
    await eventually(async () => (await balanceOf(job)) === PRICE);
    await eventually(async () => (await record(job)) === undefined);
    await expectPaidOnce(refunds, job);
  });

  it("goes on under a new key with what the old one has signed", async () => {
    desk.proxy.intervene((method) => (method === "eth_sendRawTransaction" ? "lose" : "pass"));
    const job = failedJob();
    const old = createProcess({ attemptMs: 100 });
    await old.open(job);
    await eventually(async () => (await desk.records.readWay(job.id)) !== undefined);
    await desk.closeAll();
    desk.proxy.intervene(() => "pass");
    const refunds = createProcess({}, (await desk.stage.fund(0n)).key);
    refunds.start();
    await expectPaidOnce(refunds, job);
    expect(await desk.stage.token.balanceOf(desk.treasury.address)).to.equal(999n * PRICE);
  });

  it("names the account of the old key where that has nothing left, and is made once it has", async () => {
    desk.proxy.intervene((method) => (method === "eth_sendRawTransaction" ? "lose" : "pass"));
    desk.treasury = await desk.stage.fund(PRICE);
    const { address } = desk.treasury;
    const job = failedJob();
    await createProcess({ attemptMs: 100 }).open(job);
    await eventually(async () => (await desk.records.readWay(job.id)) !== undefined);
    await desk.closeAll();
    desk.proxy.intervene(() => "pass");
    await desk.stage.spend(address, PRICE);
    const refunds = createProcess({}, (await desk.stage.fund()).key);
    refunds.start();
    const poor = `The former treasury ${address} on Base, which has signed this refund, has 0 USDC, less than 1.77`;
    await expectDelayed(job, new RegExp(`^${poor}$`, "i"));
    await desk.stage.token.mint(address, PRICE);
    await expectPaidOnce(refunds, job);
  });
});
