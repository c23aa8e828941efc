import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createHttpFacilitator, type HttpFacilitator } from "../../../runtime/drivers/facilitator/http.ts";
import { eventually } from "../../support/eventually.ts";
import { problemOf } from "../../support/thrown.ts";
import { OFFER, PAYMENT } from "./offer.ts";
import { type FacilitatorStub, openFacilitatorStub } from "./stub.ts";

describe("a facilitator over HTTP", () => {
  let stub: FacilitatorStub;
  let facilitator: HttpFacilitator;
  const never = new AbortController().signal;
  const verify = (signal = never) => facilitator.verify(PAYMENT, OFFER, signal);
  const settle = () => facilitator.settle(PAYMENT, OFFER, never);
  const answer = (status: number, body: string): void => stub.answer(status, body);

  before(async () => {
    stub = await openFacilitatorStub();
  });
  after(() => stub.close());
  const url = (): string => stub.url;
  beforeEach(() => {
    facilitator = createHttpFacilitator({
      url: url(),
      headers: async (action) => ({ authorization: `Bearer ${action}` }),
    });
  });
  afterEach(() => facilitator.close());

  const isOutage = async (promise: Promise<unknown>, what: string): Promise<void> => {
    const error = await promise.then(
      (value) => expect.fail(`${what} was taken for an answer: ${JSON.stringify(value)}`),
      (reason: unknown) => reason,
    );
    expect(error, what).to.be.instanceOf(Problem).with.property("code", "facilitator-unavailable");
  };

  it("is asked as x402 version 2 says, with its own headers for each action", async () => {
    const seen: unknown[] = [];
    stub.respond = ({ method, url: path, headers }, response, body) => {
      seen.push([method, path, headers.authorization, body && Object.keys(JSON.parse(body))]);
      response.end(
        path?.endsWith("/supported")
          ? '{"kinds":[]}'
          : path?.endsWith("/verify")
            ? '{"isValid":true}'
            : '{"success":true,"transaction":"0x1","network":"eip155:8453"}',
      );
    };
    await facilitator.supported(never);
    expect(await verify()).to.deep.equal({ isValid: true });
    expect(await settle()).to.include({ success: true, transaction: "0x1" });
    const keys = ["x402Version", "paymentPayload", "paymentRequirements"];
    expect(seen).to.deep.equal([
      ["GET", "/x402/supported", "Bearer supported", ""],
      ["POST", "/x402/verify", "Bearer verify", keys],
      ["POST", "/x402/settle", "Bearer settle", keys],
    ]);
  });

  it("may write null for what a kind does not have, as some do", async () => {
    const kind = { x402Version: 2, scheme: "exact", network: "eip155:8453" };
    answer(200, JSON.stringify({ kinds: [{ ...kind, extra: null }], signers: null }));
    expect(await facilitator.supported(never)).to.deep.equal([kind]);
  });

  it("may refuse with a 4xx status and an empty network, as some do", async () => {
    answer(400, '{"isValid":false,"invalidReason":"invalid_signature"}');
    expect(await verify()).to.include({ isValid: false, invalidReason: "invalid_signature" });
    answer(402, '{"success":false,"errorReason":"insufficient_funds","transaction":"","network":""}');
    expect(await settle()).to.include({ success: false, errorReason: "insufficient_funds", network: OFFER.network });
  });

  it("may write a mapping in the place of a message, which is left out", async () => {
    answer(200, '{"isValid":false,"invalidReason":"expired","invalidMessage":{"toString":1}}');
    expect(await verify()).to.deep.equal({ isValid: false, invalidReason: "expired" });
    const settled = { success: true, transaction: "0x1", network: "eip155:8453" };
    answer(200, JSON.stringify({ ...settled, errorMessage: { toString: 1 }, payer: null, amount: ["1"] }));
    expect(await settle()).to.deep.equal(settled);
  });

  it("is out of order, and gives no verdict, whenever its answer makes no sense", async () => {
    const nonsense: [number, string][] = [
      [500, '{"isValid":true}'],
      [503, ""],
      [200, ""],
      [200, "garbage"],
      [200, '"true"'],
      [200, "true"],
      [200, "[]"],
      [200, "null"],
      [200, '{"isValid":"true"}'],
      [200, '{"isValid":true,"payer":7}'],
      [200, '{"isValid":false,"invalidReason":{"a":1}}'],
      [401, '{"isValid":true}'],
      [302, '{"isValid":true}'],
      [404, "<html>"],
    ];
    for (const [status, body] of nonsense) {
      answer(status, body);
      await isOutage(verify(), `verify ${status} ${body}`);
    }
    for (const body of [
      "",
      "{}",
      '{"success":true}',
      '{"success":"yes","transaction":"0x1","network":"eip155:8453"}',
      "null",
    ]) {
      answer(200, body);
      await isOutage(settle(), `settle ${body}`);
    }
    answer(200, '{"kinds":"all"}');
    await isOutage(facilitator.supported(never), "supported");
  });

  it("is out of order when it says nothing, hangs up, or drips", async () => {
    const patience = new AbortController();
    stub.respond = () => patience.abort();
    await isOutage(verify(patience.signal), "silence");
    stub.respond = (request) => request.socket.destroy();
    await isOutage(verify(), "a reset");
    const more = new AbortController();
    stub.respond = (_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write('{"isV', () => more.abort());
    };
    await isOutage(verify(more.signal), "half an answer");
  });

  it("cannot fill the memory with a huge answer", async () => {
    stub.respond = (_request, response) => {
      const chunk = Buffer.alloc(1 << 20, 0x20);
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", pour);
      pour();
    };
    await isOutage(facilitator.verify(PAYMENT, OFFER, never), "an endless answer");
  });

  it("is out of order when nobody listens", async () => {
    const nobody = createHttpFacilitator({ url: "http://127.0.0.1:1" });
    await isOutage(nobody.verify(PAYMENT, OFFER, never), "a closed port");
    await nobody.close();
  });

  describe("is told apart from others that answer almost the same:", () => {
    it("it gets the whole payment and offer, below its base URL with its query", async () => {
      const seen: unknown[] = [];
      stub.respond = ({ url: path, headers }, response, body) => {
        seen.push([path, headers["content-type"], headers.accept, body && JSON.parse(body)]);
        response.end('{"isValid":true,"success":true,"transaction":"","network":"","kinds":[]}');
      };
      const keyed = createHttpFacilitator({ url: `${url()}/?key=1` });
      await keyed.verify(PAYMENT, OFFER, never);
      await keyed.settle(PAYMENT, OFFER, never);
      await keyed.supported(never);
      const request = { x402Version: 2, paymentPayload: PAYMENT, paymentRequirements: OFFER };
      expect(seen).to.deep.equal([
        ["/x402/verify?key=1", "application/json", "application/json", request],
        ["/x402/settle?key=1", "application/json", "application/json", request],
        ["/x402/supported?key=1", undefined, "application/json", ""],
      ]);
      await keyed.close();
    });

    it("it says what is wrong: our credentials, or its answer, with the status", async () => {
      for (const status of [401, 403]) {
        answer(status, "no");
        const { message, options } = await problemOf(verify());
        expect(message).to.equal(`The facilitator does not accept our credentials for verify (status ${status})`);
        expect(options.retryAfter).to.equal(5);
      }
      answer(402, "no");
      expect((await problemOf(settle())).message).to.equal(
        "The facilitator's answer to settle (status 402) is malformed",
      );
      stub.respond = (request) => request.socket.destroy();
      expect((await problemOf(settle())).message).to.equal("The facilitator did not answer to settle");
    });

    it("a refusal counts below status 500, a success with 200 alone", async () => {
      const refusal = '"transaction":"","network":"eip155:8453"';
      answer(499, `{"isValid":false,"success":false,${refusal}}`);
      expect(await verify()).to.have.property("isValid", false);
      expect(await settle()).to.have.property("success", false);
      answer(500, `{"isValid":false,"success":false,${refusal}}`);
      await isOutage(verify(), "500");
      await isOutage(settle(), "500");
      for (const status of [201, 400]) {
        answer(status, `{"isValid":true,"success":true,"transaction":"0x1","network":"eip155:8453","kinds":[]}`);
        await isOutage(verify(), `verify ${status}`);
        await isOutage(settle(), `settle ${status}`);
        await isOutage(facilitator.supported(never), `supported ${status}`);
      }
    });

    it("texts that it leaves out or sets to null are none; of another type they make no sense", async () => {
      const settled = { success: true, transaction: "0x1", network: "eip155:8453" };
      for (const none of [null, undefined]) {
        answer(200, JSON.stringify({ ...settled, errorReason: none, isValid: true, invalidReason: none, payer: none }));
        const verdict = await verify();
        expect(verdict).to.have.property("isValid", true);
        expect(verdict).not.to.have.property("payer");
        expect(await settle()).to.have.property("success", true);
      }
      for (const wrong of [{ success: 1 }, { transaction: 1 }, { network: null }, { errorReason: 1 }]) {
        answer(200, JSON.stringify({ ...settled, ...wrong }));
        await isOutage(settle(), JSON.stringify(wrong));
      }
    });

    it("kinds that are none are left out", async () => {
      const kind = { x402Version: 2, scheme: "exact", network: "eip155:8453" };
      answer(
        200,
        JSON.stringify({ kinds: [null, {}, { scheme: 1, network: "a" }, { scheme: "a", network: 1 }, kind] }),
      );
      expect(await facilitator.supported(never)).to.deep.equal([kind]);
    });

    it("256 KiB is the most that is read", async () => {
      const text = '{"isValid":true}';
      answer(200, text + " ".repeat(256 * 1024 - text.length));
      expect(await verify()).to.deep.equal({ isValid: true });
      answer(200, text + " ".repeat(256 * 1024 - text.length + 1));
      expect((await problemOf(verify())).message).to.equal("The facilitator's answer is larger than 262144 bytes");
    });

    it("64 requests at once are on their way, the others wait", async () => {
      const held: ServerResponse[] = [];
      stub.respond = (_request, response) => void held.push(response);
      const answers = Array.from({ length: 70 }, () => verify());
      await eventually(() => held.length === 64);
      for (const response of held.splice(0)) response.end('{"isValid":true}');
      await eventually(() => held.length === 6);
      for (const response of held) response.end('{"isValid":true}');
      expect(await Promise.all(answers)).to.have.length(70);
    });

    it("a fault of our own headers is our own", async () => {
      const fault = new Problem("internal", "no key");
      const keyless = createHttpFacilitator({ url: url(), headers: () => Promise.reject(fault) });
      expect(await problemOf(keyless.verify(PAYMENT, OFFER, never))).to.equal(fault);
      await keyless.close();
    });
  });
});
