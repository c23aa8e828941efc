import { expect } from "chai";
import { createHttpFacilitator, type HttpFacilitator } from "../../../runtime/drivers/facilitator/http.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { openShop } from "../../support/sellers/shop.ts";
import { problemOf } from "../../support/thrown.ts";
import { OFFER, PAYMENT } from "./offer.ts";
import { type FacilitatorStub, openFacilitatorStub } from "./stub.ts";

const KIND = { x402Version: 2, scheme: "exact", network: "eip155:8453" };
const SETTLED = { success: true, transaction: `0x${"a".repeat(64)}`, network: "eip155:8453" };

/** It closes each connection, without an answer, as the second request arrives on it. */
function closeReused(stub: FacilitatorStub): { asked: string[] } {
  const asked: string[] = [];
  const used = new WeakSet();
  stub.respond = ({ socket, url = "" }, response) => {
    asked.push(url.slice(url.lastIndexOf("/") + 1));
    if (used.has(socket)) return void socket.destroy();
    used.add(socket);
    const transaction = `0x${String(asked.length).padStart(64, "0")}`;
    const answer = { isValid: true, kinds: [KIND], ...SETTLED, transaction };
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  };
  return { asked };
}

describe("a facilitator that closes a kept connection as the next request arrives", () => {
  const never = new AbortController().signal;
  let stub: FacilitatorStub;
  let facilitator: HttpFacilitator;
  before(async () => {
    stub = await openFacilitatorStub();
  });
  after(() => stub.close());
  beforeEach(() => {
    facilitator = createHttpFacilitator({ url: stub.url });
  });
  afterEach(() => facilitator.close());

  it("is asked again, so that each buyer gets through", async () => {
    const { asked } = closeReused(stub);
    const shop = await openShop({ rail: { ...createScriptedRail(), facilitator } });
    try {
      for (let call = 0; call < 3; call++)
        expect((await shop.buy("/v1/roll", { low: 1, high: 6 })).status).to.equal(200);
    } finally {
      await shop.close();
    }
    const broken = asked.filter((action, at) => action === asked[at - 1]).length;
    expect(broken, "connections that broke").to.be.at.least(2);
  });

  it("is asked again what it supports", async () => {
    closeReused(stub);
    for (let call = 0; call < 3; call++) expect(await facilitator.supported(never)).to.deep.equal([KIND]);
  });

  it("is asked once more only, however often the connection breaks", async () => {
    let asked = 0;
    stub.respond = ({ socket }) => {
      asked += 1;
      socket.destroy();
    };
    expect((await problemOf(facilitator.verify(PAYMENT, OFFER, never))).code).to.equal("facilitator-unavailable");
    expect(asked).to.equal(2);
  });

  it("proves nothing by a refusal to settle what it may have settled before it broke off", async () => {
    const answers = [undefined, { ...SETTLED, success: false, errorReason: "invalid_payload", transaction: "" }];
    stub.respond = ({ socket }, response) => {
      const answer = answers.shift();
      if (!answer) return void socket.destroy();
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
    };
    const { code, message } = await problemOf(facilitator.settle(PAYMENT, OFFER, never));
    expect([code, message]).to.deep.equal(["facilitator-unavailable", "The facilitator did not answer to settle"]);
    expect(answers).to.be.empty;
  });

  it("is not asked again once the time is up", async () => {
    const patience = new AbortController();
    let asked = 0;
    stub.respond = ({ socket }) => {
      asked += 1;
      patience.abort();
      socket.destroy();
    };
    expect((await problemOf(facilitator.verify(PAYMENT, OFFER, patience.signal))).code).to.equal(
      "facilitator-unavailable",
    );
    expect(asked).to.equal(1);
  });
});
