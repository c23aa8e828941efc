import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { type Door, hear, jsonOf, LIMITS, openDoor, speak, toService } from "../../support/http.ts";

const SERVICES = [toService({ id: "verify", route: "POST /v1/verify" })];
const JSON_TYPE = "application/json";
type Sent = NonNullable<RequestInit["body"]>;

describe("a body", () => {
  let door: Door;
  before(async () => {
    door = await openDoor(SERVICES);
  });
  after(() => door.close({ graceMs: 0 }));

  const post = (body: Sent, headers: Record<string, string> = { "content-type": JSON_TYPE }): Promise<Response> =>
    fetch(`${door.url}/v1/verify`, { method: "POST", body, headers });
  const accepted = async (body: Sent, type?: string): Promise<unknown> => {
    const response = await post(body, type === undefined ? undefined : { "content-type": type });
    expect(response.status, String(type ?? body)).to.equal(200);
    return (await jsonOf(response)).value;
  };
  const refused = async (body: Sent, position: number, error: string): Promise<void> => {
    const response = await post(body);
    expect(response.status, String(body)).to.equal(422);
    expect(response.headers.get("content-type")).to.equal("application/json");
    expect(await jsonOf(response), String(body)).to.deep.equal({
      detail: [{ type: "json_invalid", loc: ["body", position], msg: "JSON decode error", input: {}, ctx: { error } }],
    });
  };

  describe("by its type", () => {
    it("is read as application/json in UTF-8, in every spelling, and as any +json", async () => {
      for (const type of [
        "application/json",
        "Application/JSON",
        "application/json;charset=utf-8",
        'application/json; charset="UTF-8"',
        "application/json ; charset=utf8",
        "application/json;",
        "application/ld+json",
        "application/vnd.api+json; charset=utf-8",
        'application/ld+json; profile="http://www.w3.org/ns/json-ld#compacted"',
        "application/json; version=1; charset=UTF-8",
      ])
        expect(await accepted('{"a":1}', type)).to.deep.equal({ a: 1 });
    });

    it("is refused with 415 when it is said to be anything else", async () => {
      for (const type of [
        "text/plain",
        "text/json",
        "application/jsonp",
        "application/json; charset=utf-16",
        "application/json; version=1; charset=latin1",
        "application/json, text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
      ]) {
        const response = await post('{"a":1}', { "content-type": type });
        expect(response.status, type).to.equal(415);
        expect((await jsonOf(response)).detail).to.include(type);
      }
      const unnamed = await post(new Blob(["{}"]), {});
      expect(unnamed.status).to.equal(415);
      expect((await jsonOf(unnamed)).detail).to.equal(
        "The body has no content-type; it must be application/json in UTF-8",
      );
    });

    it("is refused with 415 when it is compressed, unread", async () => {
      const bomb = gzipSync(Buffer.alloc(5_000_000, " "));
      const response = await post(bomb, { "content-type": JSON_TYPE, "content-encoding": "gzip" });
      expect(response.status).to.equal(415);
      expect((await jsonOf(response)).detail).to.match(/compressed/);
    });
  });

  describe("by its size", () => {
    const filled = (size: number): string => `"${"x".repeat(size - 2)}"`;

    it("is read up to the limit, and refused with 413 one byte above it", async () => {
      expect(await accepted(filled(LIMITS.body_bytes))).to.have.length(LIMITS.body_bytes - 2);
      const response = await post(filled(LIMITS.body_bytes + 1));
      expect(response.status).to.equal(413);
      expect((await jsonOf(response)).code).to.equal("payload-too-large");
    });

    it("is counted in bytes, not characters", async () => {
      expect((await post(`"${"é".repeat(LIMITS.body_bytes / 2)}"`)).status).to.equal(413);
    });

    it("is refused as soon as its declared length is too large, before it is sent", async () => {
      const head = `POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 9999999999\r\n\r\n`;
      expect(await hear(door.port, head, "{")).to.match(/^HTTP\/1.1 413 /);
    });

    it("is refused as soon as its chunks have passed the limit, though they never end", async () => {
      const chunk = `1000\r\n${" ".repeat(4096)}\r\n`;
      const head = `POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n`;
      expect(await hear(door.port, head, chunk, chunk, chunk)).to.match(/^HTTP\/1.1 413 /);
    });

    it("leaves its connection usable when it is refused", async () => {
      const large = `POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 20000\r\n\r\n`;
      const next = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
      const answers = await speak(door.port, large, " ".repeat(20_000), next);
      expect(answers.match(/HTTP\/1.1 \d+/g)).to.deep.equal(["HTTP/1.1 413", "HTTP/1.1 200"]);
    });

    it("ends its connection when so much is refused that the connection may be cut, and says so", async () => {
      const head = `POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\n`;
      const endless = await hear(
        door.port,
        `${head}Transfer-Encoding: chunked\r\n\r\n4000\r\n${" ".repeat(16_384)}\r\n`,
      );
      expect(endless).to.match(/^HTTP\/1.1 413 .*\r\nConnection: close\r\n/s);
      expect(await hear(door.port, `${head}Content-Length: 1048577\r\n\r\n`)).to.match(/\r\nConnection: close\r\n/);
      expect(await hear(door.port, `${head}Content-Length: 1048576\r\n\r\n`)).to.match(
        /\r\nConnection: keep-alive\r\n/,
      );
    });

    it("that is cut off ends its own request only", async () => {
      const socket = connect(door.port, "127.0.0.1");
      const head = `POST /v1/verify HTTP/1.1\r\nHost: x\r\nX-Request-Id: cut-off\r\nContent-Type: ${JSON_TYPE}\r\n`;
      socket.write(`${head}Content-Length: 9\r\n\r\n{"`);
      await eventually(() => door.calls.some(({ invocation }) => invocation.id === "cut-off"));
      socket.destroy();
      await eventually(() => door.lines.some(({ id, code }) => id === "cut-off" && code === "bad-request"));
      expect((await fetch(`${door.url}/health`)).status).to.equal(200);
    });
  });

  describe("by its text", () => {
    it("is missing when it is empty, whatever its type says", async () => {
      for (const headers of [{}, { "content-type": JSON_TYPE }, { "content-type": "text/plain" }]) {
        const response = await fetch(`${door.url}/v1/verify`, { method: "POST", headers });
        expect(response.status).to.equal(422);
        expect(await jsonOf(response)).to.deep.equal({
          detail: [{ type: "missing", loc: ["body"], msg: "Field required", input: null }],
        });
      }
      const chunked = `POST /v1/verify HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
      expect(await speak(door.port, chunked)).to.match(/^HTTP\/1.1 422 .*"missing"/s);
    });

    it("may be any JSON value; whether it fits is for the schema to say", async () => {
      for (const text of ["null", "true", "-1.5e3", '"x"', "[1]", ' {"a" : [ ] } '])
        expect(await accepted(text), text).to.deep.equal(JSON.parse(text));
    });

    it("may begin with a byte order mark", async () => {
      expect(await accepted('\ufeff{"a":1}')).to.deep.equal({ a: 1 });
    });

    it("is refused where it stops being JSON, in the words of the contract's clients", async () => {
      await refused("{", 1, "Expecting property name enclosed in double quotes");
      await refused('{"a":1,}', 7, "Expecting property name enclosed in double quotes");
      await refused("{a:1}", 1, "Expecting property name enclosed in double quotes");
      await refused('{"a" 1}', 5, "Expecting ':' delimiter");
      await refused('{"a":}', 5, "Expecting value");
      await refused('{"a":1 "b":2}', 7, "Expecting ',' delimiter");
      await refused('{"a":[1,2}', 9, "Expecting ',' delimiter");
      await refused('{"a":1', 6, "Expecting ',' delimiter");
      await refused("[1,]", 3, "Expecting value");
      await refused("[01]", 2, "Expecting ',' delimiter");
      await refused("  ", 2, "Expecting value");
      await refused("NaN", 0, "Expecting value");
      await refused("'a'", 0, "Expecting value");
      await refused("1.", 1, "Extra data");
      await refused('{"a":1} {"b":2}', 8, "Extra data");
      await refused('"abc', 0, "Unterminated string starting at");
      await refused('["a\nb"]', 3, "Invalid control character at");
      await refused('"a\\x"', 2, "Invalid \\escape");
      await refused('"\\u12g4"', 1, "Invalid \\escape");
      await refused('{"é":"\ud83d\ude00",}', 10, "Expecting property name enclosed in double quotes");
    });

    it("is refused when it is not UTF-8", async () => {
      await refused(Buffer.from([0x22, 0x61, 0xc3, 0x28, 0x22]), 2, "Invalid UTF-8");
      await refused(Buffer.from('{"a":1}', "utf16le"), 1, "Expecting property name enclosed in double quotes");
    });

    it("is refused when it is nested too deep, unparsed; brackets inside strings do not count", async () => {
      const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
      expect(await accepted(nested(LIMITS.body_depth))).to.be.an("array");
      await refused(nested(LIMITS.body_depth + 1), LIMITS.body_depth, "Nested more than 8 levels deep");
      await refused('{"a":'.repeat(2000), 8 * 5, "Nested more than 8 levels deep");
      expect(await accepted(`["${"[{".repeat(50)}\\"${"[{".repeat(50)}", {}]`)).to.have.length(2);
      expect(await accepted(`[${Array(50).fill("[]").join(",")}]`)).to.have.length(50);
    });

    it("with __proto__ in it changes no prototype", async () => {
      const response = await post(
        '{"__proto__":{"polluted":1},"__proto__":{"polluted":2},"a":{"__proto__":{"polluted":3}}}',
      );
      expect(response.status).to.equal(200);
      expect(await response.text()).to.include('"__proto__":{"polluted":2}');
      expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
    });
  });
});
