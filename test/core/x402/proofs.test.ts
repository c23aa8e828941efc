import { expect } from "chai";
import { createProofs, toDid } from "../../../runtime/core/x402/proofs.ts";
import { OFFER } from "../../support/offer.ts";

const HOUR_MS = 60 * 60_000;

describe("signed offers", () => {
  let now = 1_800_000_000_000;
  const signer = () => ({ keyId: "key", sign: () => Buffer.from("signed") });
  const proofs = createProofs({ baseUrl: "https://payphone.example", signer, clock: { now: () => now } });

  it("have no signed receipt of a payment whose payer nobody knows", () => {
    const receipt = { success: true, network: OFFER.network, transaction: "0xfe" } as const;
    const sale = { resource: "https://payphone.example/v1/roll", receipt, settledAt: now };
    expect(proofs.receipt({ ...sale, payer: undefined })).to.equal(undefined);
    expect(proofs.receipt({ ...sale, payer: OFFER.payTo })).to.be.an("object");
  });

  it("are signed by a host that did:web can name, also by an IPv6 address", () => {
    expect(toDid("https://payphone.example/paid")).to.equal("did:web:payphone.example:paid");
    expect(toDid("http://127.0.0.1:4021")).to.equal("did:web:127.0.0.1%3A4021");
    expect(toDid("http://[::1]:4021")).to.equal("did:web:%5B%3A%3A1%5D%3A4021");
  });

  it("hold for no longer than a challenge, also after the clock was set back", () => {
    const accepts = [OFFER];
    const secondsLeft = (): number => {
      const [offer] = proofs.offers("https://payphone.example/v1/roll", accepts)["offer-receipt"].info.offers as [
        { signature: string },
      ];
      const payload = Buffer.from(offer.signature.split(".")[1] ?? "", "base64url");
      return (JSON.parse(payload.toString()) as { validUntil: number }).validUntil - now / 1000;
    };
    expect(secondsLeft()).to.equal(300);
    now += 29_000;
    expect(secondsLeft()).to.equal(271);
    now -= HOUR_MS;
    expect(secondsLeft()).to.equal(300);
  });
});
