import { expect } from "chai";
import { type Abi, decodeFunctionData, type Hex, multicall3Abi } from "viem";
import type { EvmInclusion } from "../../../runtime/drivers/evm/sender/signer.ts";
import type { Deployment } from "../../../runtime/drivers/facilitator/deployment.ts";
import { NO_MORE_WALLETS, SPENT } from "../../../runtime/drivers/facilitator/local/signer.ts";
import { eventually } from "../../support/eventually.ts";
import { thrown } from "../../support/thrown.ts";
import {
  abi,
  HASH,
  OTHER,
  openSignerStage,
  PAYER,
  type SignerStage,
  TOKEN,
  TREASURY,
  toInclusion,
} from "./signer-stage.ts";

describe("the signer of a settlement", () => {
  let world: SignerStage["world"];
  let trace: SignerStage["trace"];
  let did: SignerStage["did"];
  let asked: SignerStage["asked"];
  let sent: SignerStage["sent"];
  let read: SignerStage["read"];
  let open: SignerStage["open"];
  let write: SignerStage["write"];
  beforeEach(() => {
    ({ world, trace, did, asked, sent, read, open, write } = openSignerStage());
  });

  it("may use 150 000 gas for an ordinary account and 400 000 for a contract, at a base fee a quarter above this one", async () => {
    const fees = { maxFeePerGas: 129n, maxPriorityFeePerGas: 3n };
    const address = PAYER.toLowerCase();
    expect(await read()).to.deep.equal({ payer: { address, isContract: false }, code: "0x", mostGas: 150_000n, fees });
    world.code = "0x00";
    expect(await read()).to.deep.equal({ payer: { address, isContract: true }, code: "0x00", mostGas: 400_000n, fees });
  });

  it("is not had while the treasury could not pay for that", async () => {
    world.balance = 150_000n * 129n;
    expect(await read()).to.have.property("mostGas", 150_000n);
    world.balance -= 1n;
    expect(await thrown(read())).to.have.property("code", "unavailable");
  });

  it("simulates a transfer as it would be sent, has a contract verify with its gas, and reads all else as anybody", async () => {
    const signer = await open();
    for (const functionName of ["transferWithAuthorization", "pay", "isValidSignature"])
      await signer.readContract({ address: TOKEN, abi, functionName, args: [5n] });
    const terms = { account: TREASURY, gas: 150_000n, maxFeePerGas: 129n, maxPriorityFeePerGas: 3n };
    expect(asked[0]).to.deep.include(terms);
    expect(asked[1]).to.have.all.keys("address", "abi", "functionName", "args");
    expect(asked[2]).to.have.property("gas", 150_000n);
    expect(asked[2]).to.not.have.property("account");
  });

  it("knows the code of tokens and of the payer without asking again, and of nobody else", async () => {
    world.code = "0x0a";
    const signer = await open();
    const codeOf = (address: Hex) => signer.getCode?.({ address });
    expect(await codeOf(TOKEN)).to.equal("0x01");
    world.code = "0x0b";
    expect(await codeOf(PAYER)).to.equal("0x0a");
    expect(await codeOf(OTHER)).to.equal("0x0e");
  });

  it("sends with a fifth more gas than estimated, and never with more than it may use", async () => {
    for (const [estimate, gas] of [
      [100_000n, 120_000n],
      [125_000n, 150_000n],
      [149_999n, 150_000n],
      [150_000n, 150_000n],
    ] as const) {
      world.estimate = estimate;
      expect(await write()).to.equal(HASH);
      expect(sent.at(-1)).to.include({ to: TOKEN, gas, id: "once" });
      expect(asked.at(-1)).to.deep.include({ account: TREASURY, to: TOKEN, maxFeePerGas: 129n });
      const { functionName, args } = decodeFunctionData({ abi: abi as Abi, data: sent.at(-1)?.data as Hex });
      expect([functionName, args]).to.deep.equal(["pay", [5n]]);
    }
  });

  it("sends nothing that would take more, and blames the payment", async () => {
    world.estimate = 150_001n;
    expect(await thrown(write()))
      .to.be.an("error")
      .with.property("message")
      .that.matches(/150001 gas/);
    expect([sent, did, trace]).to.deep.equal([[], ["release"], {}]);
  });

  it("sends nothing that the token refuses, and blames the payment; an outage is no refusal", async () => {
    const reverted = Object.assign(new Error("no"), { name: "ExecutionRevertedError" });
    world.estimate = new Error("reverted", { cause: reverted });
    expect(await thrown(write())).to.equal(world.estimate);
    expect([sent, did, trace]).to.deep.equal([[], ["release"], {}]);
    for (const outage of [new Error("away"), new Error("away", { cause: new Error("timeout") })]) {
      world.estimate = outage;
      expect(await thrown(write())).to.equal(outage);
      expect(trace.failure).to.equal(outage);
    }
    expect(did).to.deep.equal(["release", "release", "release"]);
  });

  it("sends nothing for a payer who has burned too much gas, and says so", async () => {
    world.hasPlace = false;
    expect(await thrown(write())).to.be.an("error");
    expect([sent, did, trace, asked]).to.deep.equal([[], [], { declined: SPENT }, []]);
  });

  it("gives the place back when the sender could not send", async () => {
    world.submit = new Error("the store is gone");
    expect(await thrown(write())).to.equal(world.submit);
    expect([did, trace.failure, trace.submission]).to.deep.equal([["release"], world.submit, undefined]);
    expect(world.inFlight).to.equal(0);
  });

  it("gives the place back once the transaction has succeeded, and remembers its payer", async () => {
    const included = Promise.withResolvers<EvmInclusion>();
    world.inclusion = included.promise;
    await write();
    expect([did, world.inFlight]).to.deep.equal([[], 1]);
    included.resolve(toInclusion("success"));
    await eventually(() => did.length === 2);
    expect(did).to.have.members(["release", "trust"]);
    expect(world.inFlight).to.equal(0);
  });

  it("tells why nothing was seen to be sent also while a store that is gone takes no place back: it may be sent yet", async () => {
    world.submit = new Error("the store is gone");
    world.release = new Error("the store is gone, too");
    expect(await thrown(write())).to.equal(world.submit);
    expect(trace.failure).to.equal(world.submit);
  });

  it("counts what a reverted transaction has cost against its payer", async () => {
    world.inclusion = Promise.resolve(toInclusion("reverted"));
    await write();
    await eventually(() => did.length > 0);
    expect([did, world.inFlight]).to.deep.equal([[`lose ${HASH} 7`], 0]);
  });

  it("waits for its own transaction through the sender, and for others at the chain", async () => {
    const signer = await open();
    const of = (hash: Hex) => signer.waitForTransactionReceipt({ hash });
    expect(await of(HASH)).to.deep.include({ logs: ["of the chain"] });
    await signer.writeContract({ address: TOKEN, abi, functionName: "pay", args: [5n] });
    expect(await of(HASH)).to.deep.equal({ status: "success", logs: [] });
    expect(trace.inclusion).to.deep.include({ status: "success" });
    expect(await of(`0x${"cd".repeat(32)}`)).to.deep.include({ logs: ["of the chain"] });
  });

  describe("for a wallet that is not deployed yet", () => {
    const deployment: Deployment = { factory: OTHER, data: "0x0d" };

    it("may use 700 000 gas, and counts it as a contract; one that stands needs no deployment", async () => {
      expect(await read(deployment)).to.deep.include({ deployment, mostGas: 700_000n });
      expect((await read(deployment)).payer.isContract).to.equal(true);
      world.code = "0x00";
      expect(await read(deployment))
        .to.include({ mostGas: 400_000n })
        .and.not.have.property("deployment");
    });

    it("holds the deployment back, and sends it with the transfer", async () => {
      const signer = await open(deployment);
      const held = await signer.sendTransaction({ to: OTHER, data: "0x0d" });
      expect(await signer.waitForTransactionReceipt({ hash: held })).to.deep.equal({ status: "success" });
      expect(sent).to.deep.equal([]);
      await signer.writeContract({ address: TOKEN, abi, functionName: "pay", args: [5n] });
      const { args } = decodeFunctionData({ abi: multicall3Abi, data: sent[0]?.data as Hex });
      const [calls] = args as unknown as [{ target: Hex; allowFailure: boolean }[]];
      expect(sent).to.have.length(1);
      expect(calls.map(({ target, allowFailure }) => [target, allowFailure])).to.deep.equal([
        [OTHER, true],
        [TOKEN, false],
      ]);
    });

    it("sends nothing when no more wallets are deployed today, and says so", async () => {
      world.hasWallets = false;
      expect(await thrown(write(deployment))).to.be.an("error");
      expect([sent, did, trace]).to.deep.equal([[], ["release"], { declined: NO_MORE_WALLETS }]);
    });

    it("gives the deployment back when nothing was sent, or when it was reverted", async () => {
      const payer = PAYER.toLowerCase();
      world.submit = new Error("the store is gone");
      expect(await thrown(write(deployment))).to.equal(world.submit);
      expect(did).to.deep.equal(["release", `give back ${payer}`]);
      world.submit = undefined;
      world.inclusion = Promise.resolve(toInclusion("reverted"));
      await write(deployment);
      await eventually(() => did.length === 4);
      expect(did.slice(2)).to.deep.equal([`lose ${HASH} 7`, `give back ${payer}`]);
    });
  });

  it("deploys no account for a payer whose signature names none", async () => {
    const signer = await open();
    expect(await thrown(signer.sendTransaction({ to: TOKEN, data: "0x" }))).to.have.property("code", "internal");
    expect(signer.getAddresses()).to.deep.equal([TREASURY]);
  });
});
