import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { toDoorRequest } from "../../support/door-request.ts";
import { encode } from "../../support/sellers/signed.ts";
import { VERSIONS } from "../support/endpoint-stage.ts";
import { expectChallenge } from "./served/support/challenge.ts";
import { BASE_URL, decode, type Loose, openStall, type Stall, toPayment } from "./served/support/stall.ts";

const NAMED_OR_NOT = [...VERSIONS, ""];
const INPUT = { low: 1, high: 6 };

describe("a paid tool", () => {
  let stall: Stall;
  beforeEach(async () => {
    stall = await openStall();
  });
  afterEach(() => stall.close());

  const paidBy = (payment: unknown, options: object = {}) =>
    stall.call("roll", INPUT, { meta: { "x402/payment": payment }, ...options });

  describe("without a payment", () => {
    it("is challenged in every form that payers read, in every version, and never with HTTP 402", async () => {
      for (const version of NAMED_OR_NOT)
        expectChallenge(await stall.call("roll", INPUT, { version }), "Payment required");
      expect(stall.executions).to.equal(0);
    });

    it("tells a model in words what it costs, where it is paid and what the client needs", async () => {
      const { content } = expectChallenge(await stall.call("roll"), "Payment required");
      expect(content[0].text).to.equal(
        "This tool costs 0.001 USD a call; nothing was charged. Your client has to pay with x402, in USDC on Base or USDC " +
          "on Solana: sign one of `accepts` in structuredContent, and repeat the identical call with the payment in " +
          '_meta["x402/payment"]. If it has no wallet, tell your user that a client which pays with x402 is needed.',
      );
      const { content: refused } = expectChallenge(await paidBy("!!!"), "invalid_payload");
      expect(refused[0].text).to.match(
        /^The payment was not accepted \(invalid_payload: it is not base64 of a JSON object\)\. This tool costs 0.001 USD/,
      );
    });

    it("is challenged whatever its arguments are", async () => {
      expectChallenge(await stall.call("roll", { low: "x" }), "Payment required");
    });

    it("names the endpoint as the resource, and the rails in dollars alone", async () => {
      const { resource, accepts } = (await stall.call("roll")).body.result.structuredContent;
      expect(resource.url).to.equal("https://payphone.test/mcp");
      expect(accepts.map(({ network }: Loose) => network)).to.deep.equal([
        "eip155:8453",
        "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      ]);
      expect((await stall.call("seal")).body.result.structuredContent.accepts[0].amount).to.equal("1770000");
    });

    it("is reported to the log and the limits as challenged", async () => {
      const { calls } = await stall.call("roll");
      expect(calls).to.have.length(1);
      expect(calls[0]).to.include({ service: "roll" }).and.have.property("challenge");
    });
  });

  describe("with a payment", () => {
    it("takes it as an object in _meta, as text in _meta, and in either header", async () => {
      const ways: ((payment: unknown) => object)[] = [
        (payment) => ({ meta: { "x402/payment": payment } }),
        (payment) => ({ meta: { "x402/payment": encode(payment) } }),
        (payment) => ({ headers: { "payment-signature": encode(payment) } }),
        (payment) => ({ headers: { "x-payment": encode(payment) } }),
      ];
      for (const way of ways) {
        const { body, headers } = await stall.call("roll", INPUT, way(await stall.pay("roll")));
        expect(body.result.structuredContent, JSON.stringify(body)).to.deep.equal({ value: 1 });
        expect(decode(headers["payment-response"])).to.deep.include({ success: true });
      }
      expect(stall.rails.base.asked).to.include({ verify: 4, settle: 4 });
    });

    it("answers with the result twice, and with the receipt in _meta and header", async () => {
      const { body, headers, calls } = await paidBy(await stall.pay("roll"));
      expect(body.result).not.to.have.property("isError");
      expect(body.result.content).to.deep.equal([{ type: "text", text: '{"value":1}' }]);
      const receipt = body.result._meta["x402/payment-response"];
      expect(receipt).to.include({ success: true, network: "eip155:8453" });
      expect(decode(headers["payment-response"])).to.deep.equal(receipt);
      expect(headers).not.to.have.any.keys("payment-required", "x-payment-response");
      expect(calls[0]).to.deep.equal({ service: "roll", receipt, asset: stall.rails.base.manifest.asset });
    });

    it("gives its result without structuredContent where the version has none", async () => {
      const { body } = await paidBy(await stall.pay("roll"), { version: "2025-03-26" });
      expect(body.result).to.have.all.keys("content", "_meta");
      expect(body.result.content[0].text).to.equal('{"value":1}');
    });

    it("prefers the payment in _meta, then PAYMENT-SIGNATURE, then X-PAYMENT", async () => {
      const good = await stall.pay("roll");
      const bad = { "payment-signature": "!", "x-payment": "!" };
      expect((await paidBy(good, { headers: bad })).body.result).not.to.have.property("isError");
      const headers = { "payment-signature": encode(await stall.pay("roll")), "x-payment": "!" };
      expect((await stall.call("roll", INPUT, { headers })).body.result).not.to.have.property("isError");
    });

    it("tells a payer of version 1 in the header that such payers read", async () => {
      const { accepts } = (await stall.call("roll")).body.result.structuredContent;
      const { payload } = toPayment(accepts[0], 9) as Loose;
      const v1 = { x402Version: 1, scheme: "exact", network: "base", payload };
      const { body, headers } = await stall.call("roll", INPUT, { headers: { "x-payment": encode(v1) } });
      expect(body.result.structuredContent).to.deep.equal({ value: 1 });
      const receipt = decode(headers["payment-response"]);
      expect(decode(headers["x-payment-response"])).to.deep.equal({ ...receipt, network: "base" });
    });

    it("challenges in version 1 whoever asks for it, or has paid so, and takes what is signed for that", async () => {
      const ask = async (facts: object, headers = {}): Promise<Loose> => {
        const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "roll", arguments: INPUT } };
        const all = {
          host: new URL(BASE_URL).host,
          "content-type": "application/json",
          "mcp-protocol-version": "2025-11-25",
          ...headers,
        };
        const reply = await stall.mcp.handle(toDoorRequest(JSON.stringify(message), { headers: all, ...facts }));
        return JSON.parse(reply.body ?? "").result;
      };
      const { structuredContent: v1, _meta, content, isError } = await ask({ version1: true });
      expect(isError).to.equal(true);
      expect(v1).to.include({ x402Version: 1 });
      expect(v1.accepts[0]).to.include({ network: "base", maxAmountRequired: "1000", resource: `${BASE_URL}/mcp` });
      expect(_meta["x402/error"]).to.deep.equal(v1);
      expect(content[0].text).to.match(/costs 0\.001 USD a call/);
      const [{ maxAmountRequired: amount, payTo, network }] = v1.accepts;
      const { payload } = toPayment({ ...v1.accepts[0], amount, payTo }, 11) as Loose;
      const payment = { x402Version: 1, scheme: "exact", network, payload };
      const wrong = { ...payment, payload: { ...payload, authorization: { ...payload.authorization, value: "1" } } };
      expect((await ask({}, { "x-payment": encode(wrong) })).structuredContent).to.include({ x402Version: 1 });
      expect((await ask({ version1: true }, { "x-payment": encode(payment) })).structuredContent).to.deep.equal({
        value: 1,
      });
    });

    it("gives the same call with the same payment the same answer, once paid and once run", async () => {
      const payment = await stall.pay("roll");
      const first = await paidBy(payment);
      const again = await paidBy(encode(payment));
      expect(again.body).to.deep.equal(first.body);
      expect(stall.executions).to.equal(1);
      expect(stall.rails.base.moved.size).to.equal(1);
    });

    it("shows the handler who pays on which network, and by which request", async () => {
      const seen: Loose[] = [];
      stall.handler = (_input, { id, payer, network }) => {
        seen.push({ id, payer, network });
        throw new Problem("upstream-failed");
      };
      const { body } = await paidBy(await stall.pay("roll"));
      const { request_id: id } = JSON.parse(body.result.content[0].text);
      const payer = "0x1111111111111111111111111111111111111111";
      expect(seen).to.deep.equal([{ id, payer, network: "eip155:8453" }]);
    });
  });

  describe("with a payment that cannot be taken", () => {
    it("is challenged again, with the reason, when the payment makes no sense", async () => {
      for (const payment of ["", "!!!", "e30=", {}, [], 5, true])
        expectChallenge(await paidBy(payment), "invalid_payload");
      expectChallenge(await paidBy(null), "Payment required");
    });

    it("is challenged again when it is paid on a rail that this door does not take", async () => {
      const offer = { ...(await stall.pay("roll")).accepted, network: "eip155:137", amount: "100000000000000000" };
      offer.asset = "0xE7C3D8C9a439feDe00D2600032D5dB0Be71C3c29";
      const payment = toPayment(offer, 77, { url: "https://payphone.test/mcp" });
      const { accepts } = expectChallenge(await paidBy(payment), "unsupported_network").structuredContent;
      expect(accepts).to.have.length(2);
      expect(stall.rails.polygon.asked.verify).to.equal(0);
    });

    it("cannot be bought with a payment for another tool of the same price, or for another door", async () => {
      expectChallenge(await paidBy(await stall.pay("echo")), "no_matching_offer");
      expectChallenge(
        await paidBy(await stall.pay("roll", { resource: { url: "https://payphone.test/v1/roll" } as Loose })),
        "wrong_resource",
      );
    });

    it("is challenged again, with the facilitator's reason, when that says no", async () => {
      stall.rails.base.script.verify = () => ({ isValid: false, invalidReason: "insufficient_funds" });
      expectChallenge(await paidBy(await stall.pay("roll")), "insufficient_funds");
      expect(stall.executions).to.equal(0);
    });
  });

  describe("in a list of messages", () => {
    const call = (id: number, name: string, payment?: unknown) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name, arguments: INPUT, ...(payment !== undefined && { _meta: { "x402/payment": payment } }) },
    });

    it("is paid by the header once: the first call without a payment of its own", async () => {
      const [first, other] = [await stall.pay("roll"), await stall.pay("echo")];
      const headers = { "payment-signature": encode(first) };
      const {
        body,
        headers: sent,
        calls,
      } = await stall.post([call(1, "echo", other), call(2, "roll"), call(3, "roll")], headers);
      expect(body.map(({ result }: Loose) => result.isError ?? false)).to.deep.equal([false, false, true]);
      expect(body[2].result.structuredContent, "is asked to pay").to.have.property("accepts");
      expect(decode(sent["payment-response"])).to.deep.equal(body[1].result._meta["x402/payment-response"]);
      expect(calls.map(({ service }) => service)).to.deep.equal(["echo", "roll", "roll"]);
      expect(stall.rails.base.moved.size).to.equal(2);
    });

    it("is challenged for each call, in its result alone", async () => {
      const { body, headers } = await stall.post([call(1, "seal"), call(2, "roll")]);
      const amounts = body.map(({ result }: Loose) => result.structuredContent.accepts[0].amount);
      expect(amounts).to.deep.equal(["1770000", "1000"]);
      expect(headers).not.to.have.property("payment-required");
    });

    it("is refused when its own message is too large, however small the others are", async () => {
      const { bodyBytes } = stall.parts.services[0]!;
      const params = { name: "free", arguments: { ...INPUT, junk: "x".repeat(bodyBytes + 16_384) } };
      const pings = Array.from({ length: 19 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
      const { body } = await stall.post([{ ...call(20, "free"), params }, ...pings]);
      expect(JSON.parse(body[0].result.content[0].text).code).to.equal("payload-too-large");
      expect(stall.executions).to.equal(0);
    });

    it("is executed once when the list repeats the same payment", async () => {
      const payment = await stall.pay("roll");
      await stall.post(Array.from({ length: 20 }, (_, id) => call(id, "roll", payment)));
      expect(stall.executions).to.equal(1);
      expect(stall.rails.base.moved.size).to.equal(1);
    });
  });
});
