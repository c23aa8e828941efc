import { expect } from "chai";
import fc from "fast-check";
import { explainPayment } from "../../../runtime/core/x402/explain-payment.ts";
import { type Payment, type Refusal, readPayment, toRefusal } from "../../../runtime/core/x402/read-payment.ts";
import { encode } from "../../support/sellers/signed.ts";

const NETWORKS = new Map([
  ["base", "eip155:8453"],
  ["solana", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"],
]);
const ACCEPTED = {
  scheme: "exact",
  network: "eip155:8453",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  amount: "1000",
  payTo: "0x2222222222222222222222222222222222222222",
  maxTimeoutSeconds: 300,
  extra: { name: "USD Coin", version: "2" },
};
const EVM = {
  signature: `0x${"ab".repeat(65)}`,
  authorization: {
    from: "0x1111111111111111111111111111111111111111",
    to: "0x2222222222222222222222222222222222222222",
    value: "1000",
    validAfter: "0",
    validBefore: "1800000000",
    nonce: `0x${"0c".repeat(32)}`,
  },
};
const payment = { x402Version: 2, accepted: ACCEPTED, resource: { url: "https://api.test/v1/roll" }, payload: EVM };
describe("reading a payment", () => {
  it("takes a V2 payment as header text or as an object", () => {
    const fromText = readPayment(encode(payment), NETWORKS);
    expect(fromText).to.deep.equal(readPayment(payment, NETWORKS));
    expect(fromText).to.include({ x402Version: 2, network: "eip155:8453", resourceUrl: "https://api.test/v1/roll" });
    expect(fromText).to.have.nested.property("authorization.amount", 1000n);
    expect(fromText).to.deep.nested.include({
      "authorization.payer": EVM.authorization.from,
      "authorization.payTo": EVM.authorization.to,
      "authorization.validAfter": 0,
      "authorization.validBefore": 1_800_000_000,
    });
  });

  it("takes a V1 payment and translates its network", () => {
    const v1 = { x402Version: 1, scheme: "exact", network: "base", payload: EVM };
    expect(readPayment(encode(v1), NETWORKS)).to.include({
      x402Version: 1,
      network: "eip155:8453",
      accepted: undefined,
    });
  });

  it("gives the same authorization the same identity, however its hex is written", () => {
    const upper = { ...EVM.authorization, nonce: EVM.authorization.nonce.replaceAll("c", "C") };
    const written = { signature: EVM.signature.replaceAll("a", "A"), authorization: upper };
    const [one, other] = [EVM, written].map((payload) => {
      const { id, fingerprint } = (readPayment({ ...payment, payload }, NETWORKS) as Payment).authorization;
      return { id, fingerprint };
    });
    expect(one).to.deep.equal(other);
  });

  it("tells another signature over the same authorization apart", () => {
    const other = readPayment({ ...payment, payload: { ...EVM, signature: `0x${"ac".repeat(65)}` } }, NETWORKS);
    const one = readPayment(payment, NETWORKS);
    expect(one).to.have.nested.property(
      "authorization.id",
      (other as { authorization: { id: string } }).authorization.id,
    );
    expect(one).not.to.have.nested.property(
      "authorization.fingerprint",
      (other as { authorization: { fingerprint: string } }).authorization.fingerprint,
    );
  });

  it("keeps nothing of a payload but its authorization: what else stood there could be settled instead", () => {
    const smuggled = { ...EVM, permit2Authorization: { nonce: "1" }, authorization: { ...EVM.authorization, more: 1 } };
    expect(readPayment({ ...payment, payload: smuggled, extensions: { any: 1 } }, NETWORKS)).to.deep.equal(
      readPayment(payment, NETWORKS),
    );
  });

  it("says in one word why a payment cannot be read", () => {
    const cases: [unknown, string][] = [
      ["", "invalid_payload"],
      ["%%%", "invalid_payload"],
      [encode("text"), "invalid_payload"],
      [encode([]), "invalid_payload"],
      [encode({ ...payment, x402Version: 3 }), "unsupported_version"],
      [encode({ ...payment, accepted: undefined }), "invalid_payload"],
      [encode({ ...payment, accepted: { ...ACCEPTED, network: "eip155:1" } }), "unsupported_network"],
      [encode({ ...payment, payload: {} }), "invalid_payload"],
      [encode({ ...payment, payload: { ...EVM, signature: "0xzz" } }), "invalid_payload"],
      [
        encode({ ...payment, payload: { ...EVM, authorization: { ...EVM.authorization, value: "-1" } } }),
        "invalid_payload",
      ],
      [
        encode({ ...payment, payload: { ...EVM, authorization: { ...EVM.authorization, value: 1.5 } } }),
        "invalid_payload",
      ],
      [
        encode({ x402Version: 1, scheme: "exact", network: "solana", payload: { transaction: "AAAA" } }),
        "invalid_payload",
      ],
      [encode({ x402Version: 1, scheme: "exact", network: "dogecoin", payload: EVM }), "unsupported_network"],
    ];
    for (const [raw, refusal] of cases) expect(readPayment(raw as string, NETWORKS), String(raw)).to.equal(refusal);
  });

  it("takes no offer in which a field is missing or is of another type", () => {
    const others = {
      scheme: 1,
      network: 1,
      asset: 1,
      amount: 1000,
      payTo: null,
      maxTimeoutSeconds: "300",
      extra: "no",
    };
    for (const [field, other] of Object.entries(others))
      for (const value of field === "extra" ? [other, []] : [other, undefined]) {
        const accepted = { ...ACCEPTED, [field]: value };
        expect(readPayment({ ...payment, accepted }, NETWORKS), `${field}: ${value}`).to.equal("invalid_payload");
      }
    for (const accepted of [null, "exact", []])
      expect(readPayment({ ...payment, accepted }, NETWORKS)).to.equal("invalid_payload");
    const { extra: _extra, ...without } = ACCEPTED;
    expect(readPayment({ ...payment, accepted: without }, NETWORKS)).to.be.an("object");
  });

  it("reads a resource only where it names a URL", () => {
    for (const resource of [undefined, null, "https://api.test/v1/roll", {}, { url: 7 }])
      expect(readPayment({ ...payment, resource }, NETWORKS)).to.have.property("resourceUrl", undefined);
  });

  it("says which field is at fault, and what would be right", () => {
    const evm = (changes: object): object => ({
      ...payment,
      payload: { ...EVM, authorization: { ...EVM.authorization, ...changes } },
    });
    const legacy = { x402Version: 1, scheme: "exact", network: "base", payload: EVM };
    const PERMIT2 = { signature: EVM.signature, permit2Authorization: { from: EVM.authorization.from } };
    const cases: readonly [string | object, string][] = [
      ["!!!", "it is not base64 of a JSON object"],
      ['{"x402Version":2, "payload":{}}', "it is not base64 of a JSON object"],
      [encode([]), "it is not base64 of a JSON object"],
      [`${encode({})}, ${encode({})}`, "its header was sent more than once; send it once"],
      [{ ...payment, payload: undefined }, "payload is missing; it must be an object"],
      [{ ...payment, x402Version: 3 }, "x402Version is not 2, or the deprecated 1"],
      [{ ...payment, accepted: undefined }, "accepted is missing; it must be the offer that is paid, an object"],
      [{ ...payment, accepted: { ...ACCEPTED, amount: 1000 } }, "accepted.amount is not a text"],
      [{ ...legacy, scheme: undefined }, "scheme is missing; it must be a text"],
      [{ ...legacy, network: "dogecoin" }, `network is dogecoin, must be one of ${[...NETWORKS.keys()].join(", ")}`],
      [
        { ...payment, accepted: { ...ACCEPTED, network: "eip155:1" } },
        `accepted.network is eip155:1, must be one of ${[...NETWORKS.values()].join(", ")}`,
      ],
      [{ ...payment, payload: { ...EVM, signature: "0x" } }, "payload.signature is not hex of at most 8192 characters"],
      [
        { ...payment, accepted: { ...ACCEPTED, scheme: "upto" }, payload: PERMIT2 },
        "accepted.scheme is upto, must be exact",
      ],
      [{ ...legacy, scheme: "upto", payload: PERMIT2 }, "scheme is upto, must be exact"],
      [
        { ...payment, payload: PERMIT2 },
        "payload.authorization is missing; it must be an EIP-3009 authorization, an object",
      ],
      [evm({ nonce: "0x12" }), "payload.authorization.nonce is not 32 bytes of hex"],
      [evm({ from: undefined }), "payload.authorization.from is missing; it must be 20 bytes of hex"],
      [evm({ value: "-1" }), "payload.authorization.value is not an unsigned integer in decimal text"],
      [
        { ...payment, extensions: { "payment-identifier": { info: { id: "short" } } } },
        'extensions.payment-identifier.info.id is not 16 to 128 letters, digits, "-" and "_"',
      ],
      ...["order_1234567890", { id: "order_1234567890" }, { info: "order_1234567890" }, []].map(
        (named): [object, string] => [
          { ...payment, extensions: { "payment-identifier": named } },
          'extensions.payment-identifier.info.id is not 16 to 128 letters, digits, "-" and "_"',
        ],
      ),
    ];
    for (const [raw, reason] of cases) {
      const refusal = readPayment(raw, NETWORKS);
      expect(refusal, reason).to.be.a("string");
      expect(explainPayment(refusal as Refusal, raw, NETWORKS)).to.equal(reason);
    }
  });

  it("has a reason for whatever it refuses, however odd, and one that fits a header", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.object(), fc.base64String(), fc.record({ x402Version: fc.constant(2), payload: fc.object() })),
        (raw) => {
          const refusal = readPayment(raw, NETWORKS);
          if (typeof refusal === "string")
            expect(explainPayment(refusal, raw, NETWORKS))
              .to.be.a("string")
              .with.length.below(240);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("survives 10 000 mutated headers without ever throwing", () => {
    const good = encode(payment);
    const mutate = fc.tuple(fc.nat(good.length - 1), fc.string({ maxLength: 4 }), fc.nat(8));
    fc.assert(
      fc.property(fc.array(mutate, { minLength: 1, maxLength: 6 }), (edits) => {
        const text = edits.reduce((raw, [at, insert, cut]) => raw.slice(0, at) + insert + raw.slice(at + cut), good);
        const read = readPayment(text, NETWORKS);
        if (typeof read !== "string") expect(read.authorization.id).to.be.a("string");
      }),
      { numRuns: 5000 },
    );
    fc.assert(
      fc.property(fc.anything(), (value) => {
        if (typeof value === "object" && value !== null)
          readPayment({ ...payment, payload: value as object }, NETWORKS);
      }),
      { numRuns: 5000 },
    );
  });

  it("puts the reasons of facilitators into a closed list", () => {
    expect(toRefusal("invalid_exact_evm_insufficient_balance")).to.equal("insufficient_funds");
    expect(toRefusal("invalid_exact_evm_nonce_already_used")).to.equal("authorization_used");
    expect(toRefusal("invalid_exact_evm_payload_signature")).to.equal("invalid_signature");
    expect(toRefusal("invalid_exact_evm_payload_authorization_valid_before")).to.equal("payment_expired");
    expect(toRefusal("transaction_blockhash_not_found")).to.equal("payment_expired");
    expect(toRefusal("invalid_exact_evm_payload_authorization_valid_after")).to.equal("payment_not_yet_valid");
    const toMessage = (reason: string): string =>
      `The contract function "transferWithAuthorization" reverted with the following reason:\n${reason}\n\nContract Call:\n  function: transferWithAuthorization(address from, uint256 validBefore, bytes32 nonce, bytes signature)`;
    const said = (reason: string): string =>
      toRefusal("invalid_exact_evm_transaction_simulation_failed", toMessage(reason));
    expect(said("FiatTokenV2: authorization is not yet valid")).to.equal("payment_not_yet_valid");
    expect(said("FiatTokenV2: authorization is expired")).to.equal("payment_expired");
    expect(said("ECRecover: invalid signature 'v' value")).to.equal("invalid_signature");
    expect(said("ERC20: transfer amount exceeds balance")).to.equal("insufficient_funds");
    expect(said("Pausable: paused")).to.equal("payment_rejected");
    for (const reason of ["settle_failed", "payer_refused", "error_caused_by_rpc", "token_paused"])
      expect(toRefusal(reason), reason).to.equal("payment_rejected");
    expect(toRefusal(undefined)).to.equal("payment_rejected");
  });
});
