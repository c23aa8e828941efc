import { expect } from "chai";
import { challengeIn, secondsToRetry } from "../../../runtime/cli/mcp-proxy/results.ts";

describe("the result of a tool that payphone mcp-proxy has called", () => {
  it("is no challenge where it offers no way to pay, such as one that asks for a sign-in only", () => {
    const structuredContent = {
      x402Version: 2,
      error: "sign in",
      resource: { url: "https://a.example/" },
      accepts: [],
    };
    expect(challengeIn({ isError: true, content: [], structuredContent })).to.equal(undefined);
  });

  it("is never asked for again without a pause", () => {
    const problem = { code: "rate-limited", status: 429, retry_after: 0 };
    expect(secondsToRetry({ isError: true, content: [], structuredContent: problem })).to.be.above(0);
  });
});
