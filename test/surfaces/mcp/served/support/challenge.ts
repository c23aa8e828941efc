import { expect } from "chai";
import type { Loose, Stall } from "./stall.ts";

/** Expects a challenge for this reason in the forms that payers read, and returns the tool's result. */
export function expectChallenge({ body, headers, status }: Awaited<ReturnType<Stall["call"]>>, error: string): Loose {
  expect(status).to.equal(200);
  const { result } = body;
  expect(result.isError).to.equal(true);
  expect(result.structuredContent.x402Version).to.equal(2);
  expect(result.structuredContent.error.split(":")[0]).to.equal(error.split(":")[0]);
  expect(result.structuredContent.error).to.include(error);
  expect(result.content).to.have.length(1);
  expect(result.content[0].text).to.match(
    /This tool costs [\d.]+ USD a call; (?:nothing was charged|this call was not charged, but [^.]+)\. /,
  );
  expect(result.content[0].text).not.to.include("{");
  const { extensions: _extensions, ...terms } = result.structuredContent;
  expect(result._meta["x402/error"]).to.deep.include(terms);
  expect(headers).not.to.have.property("payment-required");
  return result;
}
