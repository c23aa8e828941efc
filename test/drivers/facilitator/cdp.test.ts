import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { type JWTVerifyResult, jwtVerify } from "jose";
import { createCdpFacilitator } from "../../../runtime/drivers/facilitator/cdp.ts";
import { parseCdpSecret } from "../../../runtime/drivers/facilitator/cdp-secret.ts";
import { OFFER, PAYMENT } from "./offer.ts";

const KEY_ID = "organizations/o/apiKeys/k";

const ED25519 = generateKeyPairSync("ed25519");
const P256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const { d = "", x = "" } = ED25519.privateKey.export({ format: "jwk" });
const toBase64 = (...parts: string[]): string =>
  Buffer.concat(parts.map((part) => Buffer.from(part, "base64url"))).toString("base64");

const KEYS: [title: string, alg: string, secret: string, publicKey: KeyObject][] = [
  ["an Ed25519 key", "EdDSA", toBase64(d, x), ED25519.publicKey],
  ["an EC key", "ES256", P256.privateKey.export({ type: "pkcs8", format: "pem" }).toString(), P256.publicKey],
];

describe("Coinbase's facilitator", () => {
  let server: Server;
  const requests: { line: string; authorization: string; correlation: unknown }[] = [];
  const host = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;

  before(async () => {
    server = createServer(({ method, url, headers }, response) => {
      const { authorization = "", "correlation-context": correlation } = headers;
      requests.push({ line: `${method} ${host()}${url}`, authorization, correlation });
      response.setHeader("content-type", "application/json");
      response.end('{"isValid":true,"success":true,"transaction":"0x","network":"eip155:8453","kinds":[]}');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(() => server.close());
  beforeEach(() => void requests.splice(0));

  /** Asks for all three actions, and reads the tokens that came with them. */
  async function tokensOf(secret: string, publicKey: KeyObject): Promise<JWTVerifyResult[]> {
    const cdp = createCdpFacilitator({ apiKeyId: KEY_ID, apiKeySecret: secret, url: `http://${host()}/x402/` });
    const signal = AbortSignal.timeout(10_000);
    await cdp.verify(PAYMENT, OFFER, signal);
    await cdp.settle(PAYMENT, OFFER, signal);
    await cdp.supported(signal);
    await cdp.close();
    return Promise.all(
      requests.map(({ authorization }) => jwtVerify(authorization.replace(/^Bearer /, ""), publicKey)),
    );
  }

  for (const [title, alg, secret, publicKey] of KEYS)
    it(`gets every request signed with ${title}, for exactly its method, host and path`, async () => {
      const tokens = await tokensOf(secret, publicKey);
      expect(requests.map(({ line }) => line)).to.deep.equal([
        `POST ${host()}/x402/verify`,
        `POST ${host()}/x402/settle`,
        `GET ${host()}/x402/supported`,
      ]);
      for (const [index, { payload, protectedHeader }] of tokens.entries()) {
        const { iat = 0, nbf = 0, exp = 0, ...claims } = payload;
        expect(claims).to.deep.equal({ sub: KEY_ID, iss: "cdp", uris: [requests[index]?.line] });
        expect([nbf - iat, exp - iat]).to.deep.equal([0, 120]);
        const { nonce, ...header } = protectedHeader;
        expect(header).to.deep.equal({ alg, kid: KEY_ID, typ: "JWT" });
        expect(nonce).to.match(/^[0-9a-f]{32}$/);
      }
      expect(new Set(tokens.map(({ protectedHeader }) => protectedHeader.nonce)).size).to.equal(3);
    });

  it("refuses a secret that cannot sign, and says so of a PEM text on one line", () => {
    const line = (KEYS[1]?.[2] ?? "").replaceAll("\n", "\\n");
    expect(() => parseCdpSecret(line)).to.throw(RangeError, "its line breaks must be real ones, not \\n");
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
    for (const secret of [toBase64(d), privateKey.export({ type: "pkcs8", format: "pem" }).toString()])
      expect(() => parseCdpSecret(secret)).to.throw(RangeError, /^This is no key that can sign/);
  });

  it("is told by which of its clients it is called", async () => {
    await tokensOf(KEYS[0]?.[2] ?? "", ED25519.publicKey);
    for (const { correlation } of requests)
      expect(correlation).to.equal("sdk_version=1.29.0,sdk_language=typescript,source=x402,source_version=2.1.0");
  });
});
