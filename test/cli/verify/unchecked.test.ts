import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { PaymentRequired } from "@x402/core/types";
import { createOfferEIP712, createReceiptEIP712 } from "@x402/extensions/offer-receipt";
import { expect } from "chai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { runVerify } from "../../../runtime/cli/verify/verify.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { createFolder } from "../../support/folder.ts";
import { sharedSandboxServer } from "../../support/sellers/shared-sandbox-server.ts";
import { PAY_TO, USDC_OFFER } from "../call/seller.ts";

const URL_OF = "https://shop.example/v1/roll";

describe("signatures that payphone verify cannot check", () => {
  const folder = createFolder();

  async function verify(value: unknown, json = false): Promise<{ code: number; out: string }> {
    const file = join(folder, "proof.json");
    writeFileSync(file, JSON.stringify(value));
    const lines: string[] = [];
    const out = (text: string): void => void lines.push(text);
    const code = await runVerify({ file, json }, { out, err: () => {}, signal: new AbortController().signal });
    return { code, out: lines.join("\n") };
  }

  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const jws = (head: object, resourceUrl = URL_OF): object => ({
    format: "jws",
    signature: `${encode(head)}.${encode({ resourceUrl, amount: "1000" })}.c2ln`,
  });

  it("are told from those that are not valid, with an exit code of their own", async () => {
    for (const [head, why] of [
      [{ alg: "ES256K", kid: "did:web:shop.example#key" }, "it is signed by ES256K, and only EdDSA is known here"],
      [{ alg: "EdDSA", kid: "did:key:z6Mk#z6Mk" }, "the key is named by did:key, and only did:web is known here"],
      [{ alg: "EdDSA", kid: "did:jwk:e30#0" }, "the key is named by did:jwk, and only did:web is known here"],
    ] as const)
      expect(await verify(jws(head))).to.deep.equal({ code: 6, out: `CANNOT BE CHECKED: ${why}` });
    for (const kid of [5, null, { toString: 1 }])
      expect((await verify(jws({ alg: "ES256K", kid }))).out).to.match(/^CANNOT BE CHECKED: it is signed by ES256K/);
    for (const wrong of [{ alg: "EdDSA" }, { alg: "EdDSA", kid: "a key" }, { alg: "none" }, { alg: "HS256" }]) {
      const { code, out } = await verify([jws(wrong), jws({ alg: "ES256K", kid: "did:web:shop.example#key" })]);
      expect(code, "one of them is not valid").to.equal(1);
      expect(out).to.match(/^NOT VALID: .*\nCANNOT BE CHECKED/);
    }
  });

  it("are found where the official package has signed by EIP-712", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const sign = account.signTypedData as Parameters<typeof createOfferEIP712>[2];
    const { scheme, network, asset, amount } = USDC_OFFER;
    const terms = { acceptIndex: 0, scheme, network, asset, payTo: PAY_TO, amount };
    const offer = await createOfferEIP712(URL_OF, terms as Parameters<typeof createOfferEIP712>[1], sign);
    const receipt = await createReceiptEIP712({ resourceUrl: URL_OF, payer: "0x1", network }, sign);
    const { code, out } = await verify([offer, receipt], true);
    expect(code).to.equal(6);
    expect(JSON.parse(out).map(({ kind, valid }: { kind: string; valid: unknown }) => [kind, valid])).to.deep.equal([
      ["offer", null],
      ["receipt", null],
    ]);
  });

  it("are not those beside other terms, or for another seller or payer than those of the call", async () => {
    const head = { alg: "ES256K", kid: "did:web:shop.example#key" };
    expect((await verify({ amount: "1", extensions: {}, offer: jws(head) })).out).to.equal(
      "NOT VALID: amount is 1 in the file, and 1000 was signed",
    );
    expect((await verify(jws(head, "https://other.example/v1/roll"))).out).to.match(/^NOT VALID: shop\.example has /);
    const payload = {
      version: 1,
      network: "eip155:8453",
      resourceUrl: URL_OF,
      payer: "0x1",
      issuedAt: 1,
      transaction: "",
    };
    const receipt = { format: "eip712", signature: "0x00", payload };
    const request = { method: "POST", url: URL_OF };
    expect((await verify({ request, payment: { payer: "0x1" }, receipt })).code).to.equal(6);
    expect(await verify({ request, payment: { payer: "0x2" }, receipt })).to.deep.equal({
      code: 1,
      out: "NOT VALID: payer is 0x2 in the file, and 0x1 was signed",
    });
    const url = "https://other.example/v1/roll";
    expect(await verify({ request: { ...request, url }, receipt })).to.deep.equal({
      code: 1,
      out: `NOT VALID: ${url} was called, and shop.example has signed`,
    });
  });

  it("are not those of offers that have none, which are named", async () => {
    const { url } = await sharedSandboxServer();
    const challenge = (await (await fetch(`${url}/v1/roll`, { method: "POST" })).json()) as PaymentRequired;
    expect((await verify(challenge)).code).to.equal(0);
    const [offer] = challenge.accepts;
    const accepts = [...challenge.accepts, { ...offer!, payTo: `0x${"66".repeat(20)}` }];
    const { code, out } = await verify({ ...challenge, accepts });
    expect([code, out.match(/^valid offer: /gm)], out).to.deep.equal([6, Array(3).fill("valid offer: ")]);
    const { amount, asset, network } = offer!;
    const said = `the offer of ${amount} of ${asset} on ${network} to 0x${"66".repeat(20)} is not signed`;
    expect(out.split("\n").at(-1)).to.equal(`CANNOT BE CHECKED: ${said}`);
    const payload = { version: 1, network, resourceUrl: `${url}/v1/roll`, payer: "0x1", issuedAt: 1, transaction: "" };
    const receipt = { format: "eip712", signature: "0x00", payload };
    const extensions = { ...challenge.extensions, receipt };
    expect((await verify({ ...challenge, accepts, extensions })).out, "by a receipt either").to.include(said);
  });

  it("are those whose host has published the key in another form", async () => {
    let id = "";
    const server = createServer((_, answer) =>
      answer.end(JSON.stringify({ verificationMethod: [{ id, publicKeyMultibase: "z6Mk" }] })),
    );
    const { host, origin } = new URL(await listenOnLoopback(server));
    id = `did:web:${encodeURIComponent(host)}#key`;
    const { code, out } = await verify(jws({ alg: "EdDSA", kid: id }, `${origin}/v1/roll`));
    expect([code, out]).to.deep.equal([
      6,
      `CANNOT BE CHECKED: http://${host}/.well-known/did.json has "${id}" in another form than as a JWK`,
    ]);
    await closeServer(server);
  });

  it("are those whose host does not say what it publishes", async () => {
    for (const status of [301, 401, 403, 503]) {
      const server = createServer((_, answer) => answer.writeHead(status).end());
      const { host, origin } = new URL(await listenOnLoopback(server));
      const head = { alg: "EdDSA", kid: `did:web:${encodeURIComponent(host)}#key` };
      const { code, out } = await verify(jws(head, `${origin}/v1/roll`));
      const why = `CANNOT BE CHECKED: ${origin}/.well-known/did.json answers ${status}`;
      expect([code, out]).to.deep.equal([6, why]);
      await closeServer(server);
    }
  });

  it("are those whose host does not answer now, but not those that it has signed for another", async () => {
    const server = createServer((_, answer) => answer.writeHead(503).end());
    const { host, origin } = new URL(await listenOnLoopback(server));
    const head = { alg: "EdDSA", kid: `did:web:${encodeURIComponent(host)}#key` };
    const own = await verify(jws(head, `${origin}/v1/roll`));
    expect(own).to.deep.equal({ code: 6, out: `CANNOT BE CHECKED: ${origin}/.well-known/did.json answers 503` });
    expect((await verify(jws(head))).code, "for shop.example").to.equal(1);
    const receipt = jws(head, `${origin}/v1/roll`);
    const request = { method: "POST", url: URL_OF };
    expect(await verify({ request, receipt }), "not the host that was called").to.deep.equal({
      code: 1,
      out: `NOT VALID: ${URL_OF} was called, and ${host} has signed`,
    });
    await closeServer(server);
    const { code, out } = await verify(jws(head, `${origin}/v1/roll`));
    expect(code, out).to.equal(6);
    expect(out).to.include("does not answer");
  });
});
