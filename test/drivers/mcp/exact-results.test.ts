import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { connectMcp } from "../../../runtime/drivers/mcp/connection.ts";
import { toExactResponse } from "../../../runtime/drivers/mcp/exact-results.ts";

const ID = "1234567890123456789";
const toResult = (id: string): string =>
  `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"é ${ID}"}],"structuredContent":{"id":${id},"more":[${id},1.5]}}}`;
const LIST = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"structuredContent","inputSchema":{"maximum":${ID}}}]}}`;

/** An answer that arrives byte by byte. */
function toResponse(type: string, body: string): Response {
  const bytes = [...Buffer.from(body)].map((byte) => Uint8Array.of(byte));
  return toExactResponse(new Response(ReadableStream.from(bytes), { headers: { "content-type": type } }));
}

/** Answers each request with what its method asks for. */
const PROGRAM = `
const results = {
  initialize: '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}',
  "tools/call": '{"content":[],"structuredContent":{"id":${ID}}}',
  "tools/list": '{"tools":[{"name":"structuredContent","inputSchema":{"type":"object","maxProperties":${ID}}}]}',
};
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log('{"jsonrpc":"2.0","id":' + id + ',"result":' + results[method] + "}");
});`;

describe("the data of a tool's result", () => {
  it("have integers that JavaScript rounds as texts, in JSON and in a stream with any ends of lines", async () => {
    const exact = toResult(`"${ID}"`);
    expect(await toResponse("application/json; charset=utf-8", toResult(ID)).text()).to.equal(exact);
    for (const end of ["\n", "\r\n", "\r"]) {
      const toStream = (json: string): string => ["id: 1", `data: ${json}`, "", ": end", ""].join(end);
      const answer = toResponse("text/event-stream", toStream(toResult(ID)));
      expect(await answer.text(), JSON.stringify(end)).to.equal(toStream(exact));
    }
  });

  it("are told at once, while the stream goes on", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const answer = toExactResponse(new Response(readable, { headers: { "content-type": "text/event-stream" } }));
    const writer = writable.getWriter();
    const reader = answer.body?.getReader();
    for (const end of ["\n\n", "\r\r"]) {
      void writer.write(Buffer.from(`data: ${toResult(ID)}${end}`));
      const { value } = (await reader?.read()) ?? {};
      expect(String(value && Buffer.from(value))).to.equal(`data: ${toResult(`"${ID}"`)}${end}`);
    }
  });

  it("change nothing else of a message, nor other answers", async () => {
    for (const body of [LIST, toResult("1000000000000000000"), `half {"structuredContent": ${ID}`, ""])
      expect(await toResponse("application/json", body).text()).to.equal(body);
  });

  it("are passed on whole, however large a message that may be: 32 MB where payphone itself buys", async () => {
    const content = [{ type: "text", text: "é".repeat(9 * 2 ** 20) }];
    const message = { jsonrpc: "2.0", id: 1, result: { structuredContent: {}, content } };
    const line = Buffer.from(`data: ${JSON.stringify(message)}\n\n`);
    for (const size of [2 ** 16, 2 ** 16 + 1]) {
      const pieces = Array.from({ length: Math.ceil(line.length / size) }, (_, at) =>
        line.subarray(at * size, (at + 1) * size),
      );
      const stream = new Response(ReadableStream.from(pieces), { headers: { "content-type": "text/event-stream" } });
      expect(line.equals(await toExactResponse(stream).bytes()), `in pieces of ${size} bytes`).to.equal(true);
    }
  });

  it("are passed on whole where V8 optimizes patterns no more, as in a process that has run many of them", async () => {
    const module = new URL("../../../runtime/drivers/mcp/exact-results.ts", import.meta.url);
    const script = `import { gatherLines } from ${JSON.stringify(module)};
      const line = JSON.stringify({ structuredContent: { text: "a".repeat(2 ** 23) } });
      gatherLines((lines) => console.log(lines.equals(Buffer.from(line + "\\n"))))(Buffer.from(line + "\\n"));`;
    const options = ["--no-regexp-optimization", "--input-type=module", "-e", script];
    const { stdout } = await promisify(execFile)(process.execPath, options);
    expect(stdout).to.equal("true\n");
  });

  it("are so of a program, too", async () => {
    const command = [process.execPath, "-e", PROGRAM];
    const connection = await connectMcp({ command, env: {}, cwd: process.cwd() }, 30_000);
    const terms = { signal: new AbortController().signal, timeoutMs: 30_000 };
    const answer = await connection.call("x", {}, terms).finally(() => connection.close());
    expect(answer.structuredContent).to.deep.equal({ id: ID });
  });
});
