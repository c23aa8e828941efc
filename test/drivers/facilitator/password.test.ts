import { expect } from "chai";
import { createHttpFacilitator } from "../../../runtime/drivers/facilitator/http.ts";
import { openFacilitatorStub } from "./stub.ts";

describe("a facilitator behind a password, which its URL has", () => {
  it("is sent it, unless its own headers say who asks", async () => {
    const stub = await openFacilitatorStub();
    const logins: (string | undefined)[] = [];
    stub.respond = ({ headers: { authorization } }, response) => {
      logins.push(authorization);
      response.end('{"kinds":[]}');
    };
    const url = stub.url.replace("://", "://shop:s%40lt%@");
    const own = async () => ({ authorization: "Bearer own" });
    for (const facilitator of [createHttpFacilitator({ url }), createHttpFacilitator({ url, headers: own })]) {
      await facilitator.supported(new AbortController().signal);
      await facilitator.close();
    }
    stub.close();
    expect(logins).to.deep.equal([`Basic ${Buffer.from("shop:s@lt%").toString("base64")}`, "Bearer own"]);
  });
});
