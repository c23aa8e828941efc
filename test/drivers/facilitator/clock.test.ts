import { expect } from "chai";
import { createHttpFacilitator } from "../../../runtime/drivers/facilitator/http.ts";
import { openFacilitatorStub } from "./stub.ts";

describe("the clock of this machine", () => {
  it("is found to be wrong by a facilitator's answers", async () => {
    const stub = await openFacilitatorStub();
    const facilitator = createHttpFacilitator({ url: stub.url });
    const warned = async (shiftMs: number, headers = {}): Promise<string | undefined> => {
      stub.respond = (_, response) => {
        const date = new Date(Date.now() - shiftMs).toUTCString();
        response.writeHead(200, { ...headers, date }).end('{"kinds":[]}');
      };
      await facilitator.supported(new AbortController().signal);
      return (await facilitator.warnings?.())?.join();
    };
    try {
      expect(await warned(3_600_000)).to.match(/^This machine's clock is 36\d\d s fast by a facilitator's: /);
      expect(await warned(-3_600_000)).to.match(/^This machine's clock is 3[56]\d\d s slow by a facilitator's: /);
      expect(await warned(3_600_000, { age: "3600" }), "from a cache").to.equal("");
      expect(await warned(0)).to.equal("");
    } finally {
      await facilitator.close();
      stub.close();
    }
  });
});
