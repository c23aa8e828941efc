import { expect } from "chai";
import { type Hex, parseSignature } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { encode, openTokenStage, payee, sign, type TokenStage, toTransfer } from "./token-stage.ts";

describe("an EIP-3009 authorization of the sandbox's token", () => {
  let stage: TokenStage;
  let payer: PrivateKeyAccount;
  before(async () => {
    stage = await openTokenStage();
  });
  after(() => stage.chain.stop());
  beforeEach(async () => {
    payer = await stage.createPayer();
  });

  it("moves the money, in both forms of the signature, and leaves its events", async () => {
    const first = await stage.authorize(payer);
    expect(await stage.send(await toTransfer(payer, first))).to.deep.equal([
      { eventName: "AuthorizationUsed", args: { authorizer: payer.address, nonce: first.nonce } },
      { eventName: "Transfer", args: { from: payer.address, to: payee, value: 100n } },
    ]);
    expect(await stage.read("authorizationState", [payer.address, first.nonce])).to.equal(true);

    const second = await stage.authorize(payer);
    const { v, r, s } = parseSignature(await sign(payer, "TransferWithAuthorization", second));
    await stage.send(encode("transferWithAuthorization", [...Object.values(second), v, r, s]));
    expect(await stage.token.balanceOf(payer.address)).to.equal(800n);
  });

  it("is refused when its nonce was used", async () => {
    const transfer = await toTransfer(payer, await stage.authorize(payer));
    await stage.send(transfer);
    await stage.expectRevert("FiatTokenV2: authorization is used or canceled", transfer);
  });

  it("is refused when its payer cancelled it, which happens once", async () => {
    const authorization = await stage.authorize(payer);
    const { from: authorizer, nonce } = authorization;
    const cancel = encode("cancelAuthorization", [
      authorizer,
      nonce,
      await sign(payer, "CancelAuthorization", { authorizer, nonce }),
    ]);
    const cancelled = { eventName: "AuthorizationCanceled", args: { authorizer, nonce } };
    expect(await stage.send(cancel)).to.deep.equal([cancelled]);
    const text = "FiatTokenV2: authorization is used or canceled";
    await stage.expectRevert(text, await toTransfer(payer, authorization));
    await stage.expectRevert(text, cancel);
  });

  it("is refused before its time and after it, to the second", async () => {
    const time = await stage.now();
    const early = await stage.authorize(payer, { validAfter: time });
    await stage.expectRevert("FiatTokenV2: authorization is not yet valid", await toTransfer(payer, early));
    const late = await stage.authorize(payer, { validBefore: time });
    await stage.expectRevert("FiatTokenV2: authorization is expired", await toTransfer(payer, late));
    const timely = await stage.authorize(payer, { validAfter: time - 1n, validBefore: time + 1n });
    await stage.call(await toTransfer(payer, timely));
  });

  it("is refused when another signed it, or other terms, or the other kind", async () => {
    const authorization = await stage.authorize(payer);
    const text = "FiatTokenV2: invalid signature";
    const stranger = privateKeyToAccount(generatePrivateKey());
    await stage.expectRevert(text, await toTransfer(stranger, authorization));
    const right = await sign(payer, "TransferWithAuthorization", authorization);
    await stage.expectRevert(text, await toTransfer(payer, { ...authorization, value: 101n }, right));
    const receipt = await sign(payer, "ReceiveWithAuthorization", authorization);
    await stage.expectRevert(text, await toTransfer(payer, authorization, receipt));
  });

  it("is refused when its signature has the wrong shape", async () => {
    const authorization = await stage.authorize(payer);
    const right = await sign(payer, "TransferWithAuthorization", authorization);
    const wrong: Record<string, Hex> = {
      "ECRecover: invalid signature length": "0x1234",
      "ECRecover: invalid signature 'v' value": `${right.slice(0, -2)}1d` as Hex,
      "ECRecover: invalid signature 's' value": `${right.slice(0, 66)}${"f".repeat(64)}1b` as Hex,
      "ECRecover: invalid signature": `0x${"0".repeat(128)}1b`,
    };
    for (const [text, signature] of Object.entries(wrong))
      await stage.expectRevert(text, await toTransfer(payer, authorization, signature));
  });

  it("to receive is the payee's alone", async () => {
    const authorization = await stage.authorize(payer);
    const signature = await sign(payer, "ReceiveWithAuthorization", authorization);
    const receive = encode("receiveWithAuthorization", [...Object.values(authorization), signature]);
    await stage.expectRevert("FiatTokenV2: caller must be the payee", receive);
    await stage.call(receive, payee);
  });

  it("of a contract is what the contract says it is (ERC-1271)", async () => {
    const wallet = privateKeyToAccount(generatePrivateKey()).address;
    await stage.token.mint(wallet, 1000n);
    const transfer = await toTransfer(payer, await stage.authorize(payer, { from: wallet }), "0x1234");
    await stage.chain.rpc("anvil_setCode", [wallet, codeThatAnswers("ffffffff")]);
    await stage.expectRevert("FiatTokenV2: invalid signature", transfer);
    await stage.chain.rpc("anvil_setCode", [wallet, codeThatAnswers("1626ba7e")]);
    await stage.call(transfer);
  });
});

/** A contract that answers every call with these four bytes: pushed, shifted to the left of a word, returned. */
const codeThatAnswers = (bytes: string): Hex => `0x63${bytes}60e01b60005260206000f3`;
