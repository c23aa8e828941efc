import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import type { PaymentRequired } from "@x402/core/types";
import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  type JWSSignedOffer,
  type JWSSignedReceipt,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from "@x402/extensions/offer-receipt";
import { expect } from "chai";
import { CompactSign, exportJWK, generateKeyPair } from "jose";
import { runVerify } from "../../../runtime/cli/verify/verify.ts";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { createFolder } from "../../support/folder.ts";
import { sharedSandboxServer } from "../../support/sellers/shared-sandbox-server.ts";
import { createBuyer, json, type PayingFetch, stockFetch } from "../../support/sellers/stock-buyer.ts";
import type { Loose } from "../../surfaces/mcp/served/support/stall.ts";
import { run } from "../call/run.ts";

const ROLL = { low: 1, high: 6 };

describe("what a sandbox signs", () => {
  let sandbox: Awaited<ReturnType<typeof sharedSandboxServer>>;
  let pay: PayingFetch;
  const folder = createFolder();
  before(async () => {
    sandbox = await sharedSandboxServer();
    pay = await stockFetch(sandbox as never, "base");
  });

  const buyer = (): string => sandbox.description.buyer.evm.address;
  const challenge = async (): Promise<PaymentRequired> =>
    (await (await fetch(`${sandbox.url}/v1/roll`, { method: "POST" })).json()) as PaymentRequired;
  const verify = async (value: unknown, asJson = false): Promise<{ code: number; out: string }> => {
    const file = join(folder, "proof.json");
    writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
    const out: string[] = [];
    const terminal = {
      out: (text: string) => void out.push(text),
      err: () => {},
      signal: new AbortController().signal,
    };
    return { code: await runVerify({ file, json: asJson }, terminal), out: out.join("\n") };
  };

  it("are offers, one for each in the challenge, which the official package verifies", async () => {
    const required = await challenge();
    const offers = extractOffersFromPaymentRequired(required);
    expect(offers).to.have.length(required.accepts.length);
    for (const { signedOffer, acceptIndex, ...said } of decodeSignedOffers(offers)) {
      const signed = await verifyOfferSignatureJWS(signedOffer as JWSSignedOffer);
      const { scheme, network, asset, amount, payTo } = required.accepts[acceptIndex as number]!;
      expect(signed).to.deep.include({ scheme, network, asset, amount, payTo, resourceUrl: `${sandbox.url}/v1/roll` });
      expect(said.validUntil * 1000).to.be.greaterThan(Date.now());
    }
  });

  it("is a receipt, which the official package verifies and matches with the offer", async () => {
    const response = await pay(`${sandbox.url}/v1/roll`, json(ROLL));
    expect(response.status).to.equal(200);
    const receipt = extractReceiptFromResponse(response) as JWSSignedReceipt;
    const signed = await verifyReceiptSignatureJWS(receipt);
    expect(signed).to.include({ payer: buyer(), network: "eip155:8453", resourceUrl: `${sandbox.url}/v1/roll` });
    const [offer] = decodeSignedOffers(extractOffersFromPaymentRequired(await challenge()));
    expect(verifyReceiptMatchesOffer(receipt, offer!, [buyer()])).to.equal(true);
  });

  it("is the same receipt on MCP and A2A, for their own resources", async () => {
    const client = await createBuyer(sandbox as never);
    const post = async (path: string, body: object): Promise<Loose> =>
      (await fetch(sandbox.url + path, json(body))).json() as Promise<Loose>;
    const call = (meta: object): Promise<Loose> =>
      post("/mcp", {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "roll", arguments: ROLL, _meta: meta },
      });
    const { result: unpaid } = await call({});
    expect(unpaid._meta["x402/offer-receipt"].info.offers).to.have.length(2);
    const paid = await call({ "x402/payment": await client.createPaymentPayload(unpaid.structuredContent) });
    const onMcp = paid.result._meta["x402/payment-response"].extensions["offer-receipt"].info.receipt;
    expect(await verifyReceiptSignatureJWS(onMcp)).to.include({ resourceUrl: `${sandbox.url}/mcp`, payer: buyer() });

    const send = (message: object): Promise<Loose> =>
      post("/v1/a2a", {
        jsonrpc: "2.0",
        id: 1,
        method: "message/send",
        params: { message: { kind: "message", messageId: "m", role: "user", parts: [], ...message } },
      });
    const { result: task } = await send({ parts: [{ kind: "data", data: { skill: "roll", input: ROLL } }] });
    const required = task.status.message.metadata["x402.payment.required"];
    const payload = await client.createPaymentPayload(required);
    const { result: done } = await send({
      taskId: task.id,
      metadata: { "x402.payment.status": "payment-submitted", "x402.payment.payload": payload },
    });
    const [receipt] = done.status.message.metadata["x402.payment.receipts"];
    const onA2a = await verifyReceiptSignatureJWS(receipt.extensions["offer-receipt"].info.receipt);
    expect(onA2a).to.include({ resourceUrl: `${sandbox.url}/v1/a2a`, payer: buyer() });
  });

  it("is checked by payphone verify: a call's report, a 402 and a header, and nothing that was changed", async () => {
    const report = (await run({ url: sandbox.url, json: true })).out;
    const { code, out } = await verify(report);
    expect([code, out]).to.satisfy(([one, text]: [number, string]) => one === 0 && /^valid receipt: 0x/.test(text));
    const { out: offers } = await verify(await challenge());
    expect(offers.match(/^valid offer: /gm)).to.have.length(3);
    expect((await verify(`${"[".repeat(50_000)}${report}${"]".repeat(50_000)}`)).out, "within many lists").to.equal(
      out,
    );
    expect((await verify(`\ufeff${report}`)).out, "behind a byte order mark").to.equal(out);
    const header = (await pay(`${sandbox.url}/v1/roll`, json(ROLL))).headers.get("payment-response") as string;
    expect((await verify(header)).code).to.equal(0);

    const { signature } = JSON.parse(atob(header)).extensions["offer-receipt"].info.receipt as JWSSignedReceipt;
    const [head, body, sign] = signature.split(".") as [string, string, string];
    const said = JSON.parse(Buffer.from(body, "base64url").toString());
    const change = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const forged = [
      `${head}.${change({ ...said, payer: "0xme" })}.${sign}`,
      `${change({ alg: "EdDSA", kid: "did:web:127.0.0.1%3A9#key" })}.${body}.${sign}`,
      `${change({ alg: "none" })}.${body}.`,
    ];
    for (const jws of forged) {
      const verdict = await verify({ format: "jws", signature: jws });
      expect(verdict.code, verdict.out).to.equal(1);
      expect(verdict.out).to.match(/^NOT VALID: /);
    }
    for (const host of ["[::1]:9", "127.0.0.2:9"]) {
      const head = change({ alg: "EdDSA", kid: `did:web:${encodeURIComponent(host)}#key` });
      const own = change({ ...said, resourceUrl: `http://${host}/v1/roll` });
      const { out } = await verify({ format: "jws", signature: `${head}.${own}.${sign}` });
      expect(out, "no https on this machine")
        .to.match(/^CANNOT BE CHECKED: http:/)
        .and.include(`//${host} does not answer`);
    }
  });

  it("is not valid beside other terms than those that were signed", async () => {
    const required = await challenge();
    const [offer] = required.accepts;
    for (const [name, change] of [
      ["amount", { accepts: [{ ...offer!, amount: "1" }, ...required.accepts.slice(1)] }],
      ["payTo", { accepts: [{ ...offer!, payTo: `0x${"66".repeat(20)}` }, ...required.accepts.slice(1)] }],
      ["asset", { accepts: [...required.accepts].reverse() }],
      ["resourceUrl", { resource: { ...required.resource, url: `${sandbox.url}/v1/oracle` } }],
    ] as const) {
      const { code, out } = await verify({ ...required, ...change });
      expect(code, name).to.equal(1);
      expect(out).to.match(new RegExp(`^NOT VALID: .*${name === "asset" ? "network|asset" : name} is `, "m"));
    }
    const report = JSON.parse((await run({ url: sandbox.url, json: true })).out);
    for (const [name, value] of Object.entries({ transaction: "0x00", payer: "0xme", network: "eip155:137" })) {
      const { code, out } = await verify({ ...report, receipt: { ...report.receipt, [name]: value } });
      expect([code, out]).to.deep.equal([
        1,
        `NOT VALID: ${name} is ${value} in the file, and ${report.receipt[name]} was signed`,
      ]);
    }
  });

  it("is not valid beside other terms where the index of the offer, which is not signed, was taken away", async () => {
    const required = await challenge();
    const declared = required.extensions!["offer-receipt"] as { info: { offers: object[] } };
    const offers = declared.info.offers.map((offer) => ({ ...offer, acceptIndex: undefined }));
    const extensions = { "offer-receipt": { info: { offers } } };
    expect((await verify({ ...required, extensions })).code, "as they were signed").to.equal(0);
    const [first, ...others] = required.accepts;
    const accepts = [{ ...first!, payTo: `0x${"66".repeat(20)}` }, ...others];
    const { code, out } = await verify({ ...required, accepts, extensions });
    expect(code, out).to.equal(1);
    expect(out.split("\n")[0]).to.match(
      /^NOT VALID: no offer in the file has the terms that were signed: payTo is 0x66/,
    );
    expect((await verify({ ...required, accepts: [], extensions })).out).to.match(
      /^NOT VALID: what was signed is not /,
    );
    const told = JSON.parse((await verify({ ...required, accepts: [], extensions }, true)).out) as Loose[];
    expect(told.map(({ kind }) => kind)).to.deep.equal(["offer", "offer", "offer"]);
  });

  it("is not valid in the report of a call that was made to another seller, or paid by somebody else", async () => {
    const report = JSON.parse((await run({ url: sandbox.url, json: true })).out);
    const url = "https://shop.example/v1/roll";
    const elsewhere = await verify({ ...report, request: { ...report.request, url } });
    const host = new URL(sandbox.url).host;
    expect([elsewhere.code, elsewhere.out]).to.deep.equal([1, `NOT VALID: ${url} was called, and ${host} has signed`]);
    const { payer: _, ...receipt } = report.receipt;
    const { code, out } = await verify({ ...report, payment: { ...report.payment, payer: "0xme" }, receipt });
    expect([code, out]).to.deep.equal([1, `NOT VALID: payer is 0xme in the file, and ${buyer()} was signed`]);
  });

  it("is no receipt of a call whose result holds one that was signed for another", async () => {
    const { receipt, ...report } = JSON.parse((await run({ url: sandbox.url, json: true })).out);
    const refused = await verify({ ...report, result: receipt }).catch((error: Error) => error);
    expect(refused)
      .to.be.an("error")
      .with.property("message")
      .that.matches(/holds no signed offer and no signed receipt/);
  });

  describe("of another seller,", () => {
    let seller: Server;
    let origin: string;
    let sign: (said: string) => Promise<object>;
    beforeEach(async () => {
      const { publicKey, privateKey } = await generateKeyPair("EdDSA");
      seller = createServer((_, answer) => void answer.end(JSON.stringify(did)));
      const { port } = new URL(await listenOnLoopback(seller));
      const kid = `did:web:127.0.0.1%3A${port}#key`;
      const did = { verificationMethod: [{ id: kid, publicKeyJwk: await exportJWK(publicKey) }] };
      origin = `http://127.0.0.1:${port}`;
      sign = async (said) => {
        const signing = new CompactSign(Buffer.from(said)).setProtectedHeader({ alg: "EdDSA", kid });
        return { format: "jws", signature: await signing.sign(privateKey) };
      };
    });
    afterEach(() => seller.close());

    it("are offers without an end, too", async () => {
      const terms = { network: "n", asset: "a", payTo: "p", amount: "1", resourceUrl: `${origin}/x` };
      const { code, out } = await verify(await sign(JSON.stringify(terms)));
      expect(code, out).to.equal(0);
      expect(out).to.match(new RegExp(`^valid offer: 1 of a on n to p buys ${origin}/x; signed by did:web:`));
    });

    it("are not valid where a term is no plain value", async () => {
      const said = { resourceUrl: `${origin}/x`, payer: { toString: 1 } };
      const { code, out } = await verify(await sign(JSON.stringify(said)));
      expect([code, out]).to.deep.equal([1, "NOT VALID: payer, which was signed, is no plain value"]);
    });

    it("are not valid where they are too deep to be shown", async () => {
      const said = `{"resourceUrl":"${origin}/x","deep":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
      const { code, out } = await verify(await sign(said), true);
      expect([code, JSON.parse(out)[0].error]).to.deep.equal([1, "what was signed is no JSON object, or is too deep"]);
    });
  });
});
