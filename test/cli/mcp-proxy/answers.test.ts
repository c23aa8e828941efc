import type { Client, Progress } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { openProxy } from "./proxy.ts";
import { type Asked, startScripted, UNPAID } from "./scripted.ts";

const RECEIPT = { "x402/payment-response": { success: true, transaction: "0xab", network: "eip155:8453" } };
const TEXT = { type: "text", text: "here" };
const RESULT = { content: [TEXT] };
const EVENTS = { "content-type": "text/event-stream" };

describe("payphone mcp-proxy, at a seller", () => {
  let seller: Awaited<ReturnType<typeof startScripted>>;
  let client: Client;
  let asked: Asked[];
  /** Answers a paid call. */
  let deliver: (asked: Asked) => unknown;
  let list: object;

  before(async () => {
    const answer = (call: Asked): unknown =>
      asked.push(call) && (call.payment === undefined ? call.answer(UNPAID) : deliver(call));
    seller = await startScripted(answer, () => list);
    client = await openProxy(seller.url, createFolder());
  });
  beforeEach(() => {
    [asked, list] = [[], { tools: [{ name: "here", inputSchema: { type: "object" } }], nextCursor: null }];
  });
  after(async () => {
    await client.close();
    seller.close();
  });

  const call = (options = {}): ReturnType<Client["callTool"]> =>
    client.callTool({ name: "here", arguments: {} }, options);
  const payments = (): unknown[] => asked.map(({ payment }) => payment).filter((payment) => payment !== undefined);
  const tell = ({ outgoing }: Asked, message: object): void =>
    void outgoing.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);

  describe("whose answers do not fit MCP,", () => {
    it("hands on what was paid for without the members that are null", async () => {
      const block = { ...TEXT, annotations: null, _meta: null };
      deliver = ({ answer }) => answer({ content: [block], structuredContent: null, isError: null, _meta: RECEIPT });
      expect(await call()).to.deep.equal({ content: [TEXT], _meta: RECEIPT });
      expect(payments()).to.have.length(1);
    });

    it("hands on what was paid for where members of the message are null, or the result's _meta is no object", async () => {
      const bodies = [
        { result: { ...RESULT, _meta: null } },
        { result: { ...RESULT, _meta: [] } },
        { result: RESULT, error: null },
      ];
      for (const body of bodies) {
        deliver = (paid) => {
          paid.outgoing.writeHead(200, { "content-type": "application/json" });
          paid.outgoing.end(JSON.stringify({ jsonrpc: "2.0", id: paid.id, ...body }));
        };
        expect(await call(), JSON.stringify(body)).to.deep.equal(RESULT);
      }
      expect(payments()).to.have.length(bodies.length);
    });

    it("hands on integers that JavaScript would round as texts", async () => {
      deliver = ({ id, outgoing }) => {
        const result = '{"content":[],"structuredContent":{"id":1234567890123456789}}';
        outgoing.writeHead(200, { "content-type": "application/json" });
        outgoing.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
      };
      expect((await call()).structuredContent).to.deep.equal({ id: "1234567890123456789" });
    });

    it("hands on what was paid for as text where no client would read it", async () => {
      const content = [{ type: "json", json: { rolled: 4 } }];
      for (const answered of [{ content }, { content: "here" }, { content, isError: true }]) {
        deliver = ({ answer }) => answer({ ...answered, _meta: RECEIPT });
        const { content: said, isError = false, _meta } = await call();
        expect(said).to.deep.equal([{ type: "text", text: JSON.stringify(answered) }]);
        expect({ isError, _meta }).to.deep.equal({ isError: "isError" in answered, _meta: RECEIPT });
      }
      expect(payments()).to.have.length(3);
      const structuredContent = { rolled: 4 };
      deliver = ({ answer }) => answer({ content, structuredContent });
      expect(await call(), "for programs, which read no text").to.deep.include({ structuredContent });
    });

    it("hands on what was paid for as text, too, where it has no text: many clients show a model nothing else", async () => {
      const [structuredContent, text] = [{ rolled: 4 }, { type: "text", text: '{"rolled":4}' }];
      const image = { type: "image", data: "AAAA", mimeType: "image/png" };
      for (const content of [[], [image]]) {
        deliver = ({ answer }) => answer({ content, structuredContent });
        expect(await call()).to.deep.equal({ content: [...content, text], structuredContent });
      }
    });

    it("hands on what was paid for and breaks the schema of the tool's results", async () => {
      const outputSchema = { type: "object", properties: { rolled: { type: "integer" } }, required: ["rolled"] };
      for (const answered of [{ structuredContent: { rolled: "four" } }, {}]) {
        list = { tools: [{ name: "here", inputSchema: { type: "object" }, outputSchema }] };
        deliver = ({ answer }) => answer({ ...RESULT, ...answered, _meta: RECEIPT });
        expect((await client.listTools()).tools[0]?.name).to.equal("here");
        expect(await call()).to.deep.equal({ ...RESULT, ...answered, _meta: RECEIPT });
      }
    });

    it("hands on what was paid for and is no object as an older client reads it", async () => {
      deliver = ({ answer }) => answer({ content: [TEXT], structuredContent: [4] });
      expect(await call()).to.deep.include({ content: [TEXT], structuredContent: { result: [4] } });
    });

    it("hands on what was paid for and is nested too deeply to be written, without that", async () => {
      const [head, deep] = ['"content":[{"type":"text","text":"here"}]', `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`];
      for (const [answered, first] of [
        [`{${head},"structuredContent":${deep}}`, ["here"]],
        [`{${head},"structuredContent":${deep.replace("1", "1234567890123456789")}}`, ["here"]],
        [`{"content":[${deep}]}`, []],
      ] as const) {
        deliver = ({ id, outgoing }) => {
          const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${answered}}`;
          outgoing.writeHead(200, { "content-type": "application/json" }).end(text);
        };
        const texts = ((await call()).content as { text: string }[]).map(({ text }) => text);
        expect(texts).to.deep.equal([...first, "The seller's answer is nested too deeply to be handed on whole."]);
      }
    });

    it("says in a few words that an answer without a result is none", async () => {
      const other = await startScripted(({ answer }) => answer(null as never));
      const proxy = await openProxy(other.url, createFolder());
      const { content } = await proxy.callTool({ name: "here", arguments: {} });
      expect(content)
        .to.have.nested.property("[0].text")
        .that.matches(/failed: its answer is no message of MCP$/);
      await proxy.close();
      other.close();
    });

    it("shows its other tools, and leaves out those that are none", async () => {
      const own = { description: null, annotations: null };
      const here = { name: "here", inputSchema: { type: "object" } };
      list = { tools: [{ name: "none" }, { ...here, ...own }, { inputSchema: {} }], nextCursor: null };
      expect((await client.listTools()).tools).to.deep.equal([here]);
      list = { tools: [here], nextCursor: 2 };
      expect((await client.listTools()).tools, "of a page whose cursor is none").to.deep.equal([here]);
    });
  });

  describe("who tells of progress,", () => {
    let heard: Progress[];
    beforeEach(() => {
      heard = [];
      deliver = async (paid) => {
        const { id, progressToken, outgoing } = paid;
        outgoing.writeHead(200, EVENTS);
        if (progressToken !== undefined)
          for (const [progress, known] of [
            [1, 1],
            [2, 2],
            [2, 2],
            [1, 2],
            [3, 3],
          ]) {
            const params = { progressToken, progress, total: 3, message: "at work" };
            tell(paid, { method: "notifications/progress", params });
            await eventually(() => heard.length === known); // Clients forget what comes together with the result.
          }
        tell(paid, { id, result: RESULT });
        outgoing.end();
      };
    });

    it("passes it on to a client that listens, as long as it grows", async () => {
      expect(await call({ onprogress: (progress: Progress) => void heard.push(progress) })).to.deep.include(RESULT);
      expect(heard).to.deep.equal([1, 2, 3].map((progress) => ({ progress, total: 3, message: "at work" })));
    });

    it("asks for none for a client that does not", async () => {
      expect(await call()).to.deep.include(RESULT);
      expect(asked.map(({ progressToken }) => progressToken)).to.deep.equal([undefined, undefined]);
    });
  });

  it("that forgets each session at once opens no third one", async () => {
    let calls = 0;
    const forgetful = await startScripted(({ outgoing, answer }) => {
      calls += 1;
      if (calls > 2) answer(RESULT);
      else outgoing.writeHead(404).end();
    });
    const other = await openProxy(forgetful.url, createFolder());
    expect(await other.callTool({ name: "here", arguments: {} })).to.include({ isError: true });
    await other.close();
    forgetful.close();
    expect(calls).to.equal(2);
  });

  for (const [how, what] of [
    ["end", "ends"],
    ["destroy", "breaks off"],
  ] as const)
    it(`sends the same payment again at once when a stream of events ${what} without the answer`, async () => {
      deliver = (paid) => {
        const { id, outgoing } = paid;
        outgoing.writeHead(200, EVENTS);
        if (payments().length === 1) return outgoing.write(": hi\n\n", () => outgoing[how]());
        tell(paid, { id, result: RESULT });
        outgoing.end();
      };
      expect(await call()).to.deep.include(RESULT);
      const [first, second, ...more] = payments();
      expect(second).to.deep.equal(first);
      expect(more).to.deep.equal([]);
    });
});
