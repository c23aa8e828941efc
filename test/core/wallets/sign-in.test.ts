import { base58 } from "@scure/base";
import { generateKeyPairSigner } from "@solana/kit";
import { createSIWxPayload, encodeSIWxHeader } from "@x402/extensions/sign-in-with-x";
import { expect } from "chai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { Problem } from "../../../runtime/api/problem.ts";
import type { BoughtCall } from "../../../runtime/api/purchases.ts";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import type { PaymentRequired } from "../../../runtime/core/x402/x402.ts";
import { createScriptedRail, refuses } from "../../support/chains/scripted-rail.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

type Signer = Parameters<typeof createSIWxPayload>[1];
type Info = Parameters<typeof createSIWxPayload>[0];
interface Declared {
  readonly info: Info;
  readonly supportedChains: readonly { readonly chainId: string; readonly type: Info["type"] }[];
}

const newAccount = () => privateKeyToAccount(generatePrivateKey());

describe("a wallet that signs in", () => {
  let shop: Shop;
  const account = newAccount();
  const open = async (options: Parameters<typeof openShop>[0] = {}): Promise<void> => {
    await shop?.close();
    shop = await openShop({
      others: [createScriptedRail({ id: "solana", network: SOLANA, asset: "mint" })],
      ...options,
    });
  };
  beforeEach(() => open());
  afterEach(() => shop.close());

  const declaredIn = ({ extensions = {} }: PaymentRequired): Declared => extensions["sign-in-with-x"] as Declared;
  const challenge = async (): Promise<Declared> =>
    declaredIn((await (await fetch(`${shop.url}/v1/purchases`)).json()) as PaymentRequired);

  /** The official package's payload, made for a challenge. */
  async function sign(signer: Signer, change: Partial<Info> = {}, network = "eip155:8453"): Promise<object> {
    const { info, supportedChains } = await challenge();
    const chain = supportedChains.find(({ chainId }) => chainId === network)!;
    return createSIWxPayload({ ...info, ...chain, ...change }, signer, change.uri ?? shop.url);
  }
  const list = (payload: object): Promise<Response> =>
    fetch(`${shop.url}/v1/purchases`, { headers: { "sign-in-with-x": encodeSIWxHeader(payload as never) } });
  const listed = async (response: Response): Promise<BoughtCall[]> => {
    expect(response.status).to.equal(200);
    return ((await response.json()) as { purchases: BoughtCall[] }).purchases;
  };
  const refusalOf = async (response: Response): Promise<string> => {
    expect(response.status).to.equal(402);
    return ((await response.json()) as PaymentRequired).error;
  };
  const buy = async (from: string): Promise<unknown> => {
    const payment = await shop.pay("/v1/roll", { from });
    return (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).json();
  };

  it("is asked to, with offers of nothing that could be paid, and a new nonce each time", async () => {
    const response = await fetch(`${shop.url}/v1/purchases`);
    expect(response.status).to.equal(402);
    const body = (await response.json()) as PaymentRequired;
    expect(body.accepts).to.deep.equal([]);
    const header = JSON.parse(atob(response.headers.get("payment-required")!)) as PaymentRequired;
    expect(declaredIn(header)).to.deep.equal(declaredIn(body));
    expect((await challenge()).info.nonce).not.to.equal(declaredIn(body).info.nonce);
  });

  it("is refused where the shop sells nothing to it", async () => {
    await open({ rules: { deny: [account.address.toLowerCase()] } });
    const refused = await list(await sign(account));
    expect([refused.status, ((await refused.json()) as { code: string }).code]).to.deep.equal([403, "buyer-refused"]);
    expect((await list(await sign(newAccount()))).status).to.equal(200);
  });

  it("sees what it is owed as paid, and as paid back once the money has moved", async () => {
    shop.handler = () => {
      throw new Problem("unparseable-input", "There is no such die");
    };
    const payment = await shop.pay("/v1/echo", { from: account.address });
    expect((await shop.post("/v1/echo", ROLL, { "payment-signature": payment })).status).to.equal(502);
    const state = async (): Promise<unknown> => (await listed(await list(await sign(account)))).map((one) => one.state);
    expect(await state(), "by hand").to.deep.equal(["paid"]);
    const refunds = createRefundRecords(shop.store);
    for await (const refund of refunds.list()) await refunds.end(refund, { transaction: "0xfe", at: shop.clock.now() });
    expect(await state()).to.deep.equal(["paid-back"]);
  });

  it("sees what it has signed for, whomever the facilitator names: that one sees nothing", async () => {
    const named = newAccount();
    shop.rail.script.verify = () => ({ isValid: true, payer: named.address });
    const answer = await buy(account.address);
    expect(await listed(await list(await sign(named)))).to.deep.equal([]);
    expect((await listed(await list(await sign(account)))).map((bought) => bought.answer)).to.deep.equal([answer]);
  });

  it("signs under its address in small letters, as wallets in browsers name it, in the official package's words", async () => {
    const answer = await buy(account.address);
    const small = { ...account, address: account.address.toLowerCase() as typeof account.address };
    expect((await listed(await list(await sign(small)))).map((bought) => bought.answer)).to.deep.equal([answer]);
  });

  it("sees what it has bought, with the answer, and nobody else's", async () => {
    const answer = await buy(account.address);
    await buy(`0x${"99".repeat(20)}`);
    const [bought, ...more] = await listed(await list(await sign(account)));
    expect(more).to.deep.equal([]);
    expect(bought).to.include({ service: "roll", state: "delivered", amount: "1000", network: "eip155:8453" });
    expect(bought!.transaction).to.match(/^0x/);
    expect(bought!.answer).to.deep.equal(answer);
    expect(await listed(await list(await sign(newAccount())))).to.deep.equal([]);
  });

  it("sees the newest first, also of the day before, and nothing that was refused", async () => {
    await buy(account.address);
    shop.clock.advance(24 * 60 * 60_000);
    shop.rail.script.settle = refuses();
    await buy(account.address);
    shop.rail.script = {};
    await buy(account.address);
    const found = await listed(await list(await sign(account)));
    expect(found.map(({ state }) => state)).to.deep.equal(["delivered", "forgotten"]);
  });

  it("signs on Solana, too", async () => {
    const signer = await generateKeyPairSigner();
    expect(await listed(await list(await sign(signer as unknown as Signer, {}, SOLANA)))).to.deep.equal([]);
    const other = await generateKeyPairSigner();
    const stolen = { ...(await sign(signer as unknown as Signer, {}, SOLANA)), address: other.address };
    expect(await refusalOf(await list(stolen))).to.equal("sign_in_refused: the signature is not the wallet's");
  });

  it("signs with a statement, times, an id and resources, in the official package's words", async () => {
    const now = Date.now();
    const whole = {
      statement: "Show me what I have bought.",
      expirationTime: new Date(now + 60_000).toISOString(),
      notBefore: new Date(now - 60_000).toISOString(),
      requestId: "request-1",
      resources: [`${shop.url}/v1/purchases`],
    };
    expect((await list(await sign(account, whole))).status).to.equal(200);
    const signer = await generateKeyPairSigner();
    expect((await list(await sign(signer as unknown as Signer, whole, SOLANA))).status).to.equal(200);
  });

  it("is let in once, also where the clock of another process is 50 minutes behind", async () => {
    let laterMs = 0;
    await open({ store: createMemoryStore(() => Date.now() + laterMs) });
    const proof = await sign(account);
    expect((await list(proof)).status).to.equal(200);
    laterMs = 51 * 60_000; // By the store's clock. By this process's own, the proof is still valid.
    expect(await refusalOf(await list(proof))).to.match(/the nonce was used before/);
  });

  it("is let in once, for 50 copies of a signature at the same moment", async () => {
    const payload = await sign(account);
    const answers = await Promise.all(Array.from({ length: 50 }, () => list(payload)));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
  });

  it("cannot spoil another one's nonce", async () => {
    const { info } = await challenge();
    const nonce = info.nonce;
    expect((await list(await sign(newAccount(), { nonce }))).status).to.equal(200);
    expect((await list(await sign(account, { nonce }))).status).to.equal(200);
  });

  const minutes = (count: number): string => new Date(Date.now() + count * 60_000).toISOString();
  const foreign: [what: string, change: Partial<Info>, refusal: RegExp][] = [
    ["another host", { domain: "evil.example", uri: "https://evil.example" }, /domain is "evil.example", and must be/],
    ["a time that is over", { issuedAt: minutes(-6) }, /issuedAt is .+ 5 minutes old at most/],
    ["a time to come", { issuedAt: minutes(60) }, /issuedAt is .+ no time before now/],
    ["no time", { issuedAt: "soon" }, /issuedAt is "soon"/],
    ["an end that is over", { expirationTime: minutes(-1) }, /expirationTime is over/],
    ["a beginning to come", { notBefore: minutes(60) }, /notBefore is still to come/],
    ["another chain", { chainId: "eip155:1" }, /chainId is "eip155:1", and must be one of/],
  ];
  for (const [what, change, refusal] of foreign)
    it(`is refused with a signature for ${what}`, async () => {
      let payload: object;
      try {
        payload = await sign(account, change);
      } catch {
        // The official package or its parser does not sign this: it is sent as another signer would.
        payload = { ...(await sign(account)), ...change };
      }
      expect(await refusalOf(await list(payload))).to.match(refusal);
    });

  it("is refused when anything that was signed is changed", async () => {
    for (const change of [{ nonce: "0123456789abcdef" }, { statement: "Other" }, { address: newAccount().address }])
      expect(await refusalOf(await list({ ...(await sign(account)), ...change }))).to.match(/not the wallet's$/);
    expect(await refusalOf(await list({ ...(await sign(account)), statement: "two\nlines" }))).to.match(/one line/);
  });

  it("is refused with what is no proof at all", async () => {
    for (const header of ["!", "e30", base58.encode(new Uint8Array(8)), "A".repeat(9000)]) {
      const response = await fetch(`${shop.url}/v1/purchases`, { headers: { "sign-in-with-x": header } });
      expect(await refusalOf(response)).to.match(/^sign_in_refused: /);
    }
  });

  /** Calls a tool on MCP, with a proof where there is one. */
  async function call(name: string, proof?: object): Promise<{ text: string; required: PaymentRequired }> {
    const params = { name, arguments: name === "roll" ? ROLL : {}, _meta: { "x402/sign-in-with-x": proof } };
    const response = await shop.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const { result } = (await response.json()) as {
      result: { content: [{ text: string }]; structuredContent: PaymentRequired };
    };
    return { text: result.content[0].text, required: result.structuredContent };
  }

  it("is found in _meta on MCP, where its purchases are a tool", async () => {
    const answer = await buy(account.address);
    expect(declaredIn((await call("purchases")).required).info.domain).to.equal(new URL(shop.url).host);
    const { text } = await call("purchases", await sign(account));
    expect(JSON.parse(text).purchases[0].answer).to.deep.equal(answer);
  });

  it("gets nothing that has a price and no free calls", async () => {
    const header = { "sign-in-with-x": encodeSIWxHeader((await sign(account)) as never) };
    await refusalOf(await shop.post("/v1/roll", ROLL, header));
    expect((await call("roll", await sign(account))).required.accepts).to.have.length(2);
    expect(shop.executions).to.equal(0);
  });

  it("fetches an answer that a copy of its payment cannot fetch any more", async () => {
    await open({ limits: { answers_minutes: 600 } });
    const payment = await shop.pay("/v1/roll", { from: account.address });
    const answer = await (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).json();
    expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(200);
    shop.clock.advance(60 * 60_000);
    expect(await refusalOf(await shop.retry("/v1/roll", ROLL, payment))).to.match(/^payment_expired/);
    const issuedAt = new Date(shop.clock.now()).toISOString();
    const [bought] = await listed(await list(await sign(account, { issuedAt })));
    expect(bought!.answer).to.deep.equal(answer);
    expect(shop.rail.moved.size).to.equal(1);
  });
});
