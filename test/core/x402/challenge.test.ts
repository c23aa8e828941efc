import { expect } from "chai";
import { roomIn, UNPAID } from "../../../runtime/core/x402/challenge.ts";

describe("the room for extensions in a challenge", () => {
  const resource = { url: "https://example.org/é", description: "d", mimeType: "m", serviceName: "n", tags: [] };
  const bare = { x402Version: 2 as const, resource, accepts: [] };
  const headerOf = (error: string, room: number): number => {
    const braces = '{"a":""}'.length;
    const extensions = { a: "x".repeat(room - braces) };
    return Buffer.from(JSON.stringify({ error, ...bare, extensions })).toString("base64").length;
  };

  it("is what the head leaves beside 700 bytes of other fields, to the last four characters of base64", () => {
    const room = roomIn(3900, { error: UNPAID, ...bare });
    expect(headerOf(UNPAID, room)).to.equal(3200);
    expect(headerOf(UNPAID, room + 1)).to.be.above(3200);
  });

  it("is 700 bytes less for a refusal, which may bring a receipt", () => {
    const room = roomIn(3900, { error: "It is spent", ...bare });
    expect(headerOf("It is spent", room)).to.equal(2500);
  });
});
