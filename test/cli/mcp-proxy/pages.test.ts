import { expect } from "chai";
import { createFolder } from "../../support/folder.ts";
import { openProxy } from "./proxy.ts";
import { startScripted, UNPAID } from "./scripted.ts";

const FIELDS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

describe("payphone mcp-proxy, before a tool on a later page of the list", () => {
  it("refuses arguments that do not fit its schema, and pays nothing", async () => {
    const paid: unknown[] = [];
    const seller = await startScripted(
      ({ payment, answer }) => {
        if (payment !== undefined) paid.push(payment);
        answer(UNPAID);
      },
      ({ cursor }) => (cursor ? { tools: [{ name: "last", inputSchema: FIELDS }] } : { tools: [], nextCursor: "2" }),
    );
    const client = await openProxy(seller.url, createFolder());

    const { content } = await client.callTool({ name: "last", arguments: { citty: "Rome" } });
    expect(content)
      .to.have.nested.property("[0].text")
      .that.matches(/body\.city: Field required\n {2}body\.citty: .*"city"\?\nNothing was paid\.$/);
    expect(paid).to.deep.equal([]);

    await client.close();
    seller.close();
  });

  it("reads fifty pages of a list without end, and leaves the check to the seller", async () => {
    let pages = 0;
    const seller = await startScripted(
      ({ payment, answer }) => answer(payment === undefined ? UNPAID : { content: [] }),
      () => {
        pages += 1;
        return { tools: [], ...(pages < 1000 && { nextCursor: String(pages) }) };
      },
    );
    const client = await openProxy(seller.url, createFolder());
    await client.callTool({ name: "last", arguments: {} });
    await client.close();
    seller.close();
    expect(pages).to.equal(50);
  });
});

describe("payphone mcp-proxy, of a tool whose fields stand in parts of its schema", () => {
  it("shows them all at the root, since model providers refuse every tool otherwise, and checks against the whole", async () => {
    const Where = { properties: { place: true }, required: ["place"], additionalProperties: false };
    const inputSchema = {
      type: "object",
      oneOf: [{ ...FIELDS, additionalProperties: false }, { $ref: "#/definitions/Where" }],
      definitions: { Where },
    };
    const seller = await startScripted(
      ({ answer }) => answer(UNPAID),
      () => ({ tools: [{ name: "weather", inputSchema }] }),
    );
    const client = await openProxy(seller.url, createFolder());
    const { tools } = await client.listTools();
    expect(tools[0]?.inputSchema).to.deep.equal({
      type: "object",
      description: "Needs city, or place.",
      properties: { city: { type: "string" }, place: {} },
      definitions: { Where },
    });
    const { content } = await client.callTool({ name: "weather", arguments: { city: "Rome", place: 1 } });
    expect(content)
      .to.have.nested.property("[0].text")
      .that.matches(/Nothing was paid\.$/);
    await client.close();
    seller.close();
  });
});
