import { expect } from "chai";
import { type Door, openDoor, speak, toService } from "../support/http.ts";

const SERVICES = [
  toService({ id: "roll", route: "POST /v1/roll", price: "0.001" }),
  toService({ id: "screen", route: "GET /v1/screen", price: "0.02" }),
  toService({ id: "report", route: "GET /v1/report/{job_id}", price: "0.02" }),
];

/** Request lines (and headers) that have opened doors elsewhere, and the only status that they may have here. */
const TRICKS: readonly [line: string, status: number, ...headers: string[]][] = [
  // The exact paths are challenged, whatever decorates them.
  ["POST /v1/roll", 402],
  ["POST /v1/roll?", 402],
  ["POST /v1/roll??x=/health", 402],
  ["POST /v1/roll?/../../health", 402],
  ["POST http://elsewhere.example/v1/roll", 402],
  ["POST HTTP://user:pw@elsewhere.example:99/v1/roll?x", 402],
  ["HEAD /v1/screen", 402],
  ["GET /v1/report/..%2F..%2Fhealth", 402],
  // Nothing that merely looks like a path is one.
  ["POST /v1/roll/", 404],
  ["POST /v1/roll//", 404],
  ["POST //v1/roll", 404],
  ["POST /v1//roll", 404],
  ["POST /v1/./roll", 404],
  ["POST /v1/x/../roll", 404],
  ["POST /health/../v1/roll", 404],
  ["POST /V1/roll", 404],
  ["POST /v1/ROLL", 404],
  ["POST /v1/rol%6C", 404],
  ["POST /v1%2Froll", 404],
  ["POST /v1/roll%2F", 404],
  ["POST /v1/roll%00", 404],
  ["POST /v1/roll%20", 404],
  ["POST /v1/roll;a=b", 404],
  ["POST /v1/roll.json", 404],
  ["POST /v1/roll%3Fx=1", 404],
  ["POST /%76%31/roll", 404],
  ["POST /%c0%afv1/roll", 404],
  ["GET /v1/report/", 404],
  ["GET /v1/report/a/b", 404],
  ["POST https://elsewhere.example", 405],
  // What can be read in two ways is not read at all.
  ["POST /v1/roll#x", 400],
  ["POST /v1/x\\..\\roll", 400],
  ["POST \\v1\\roll", 400],
  ["POST v1/roll", 400],
  ["GET /v1/report/%c0", 400],
  ["GET /v1/report/%", 400],
  ["POST /v1/roll x", 400],
  ["POST /v1/r\u00f6ll", 400],
  // Methods are what they say, and nothing overrides them.
  ["GET /v1/roll", 405],
  ["HEAD /v1/roll", 405],
  ["PUT /v1/roll", 405],
  ["PATCH /v1/roll", 405],
  ["DELETE /v1/roll", 405],
  ["TRACE /v1/roll", 405],
  ["QUERY /v1/roll", 405],
  ["POST /v1/screen", 405],
  ["post /v1/roll", 400],
  ["NONSENSE /v1/roll", 400],
  ["CONNECT /v1/roll:443", 405],
  ["CONNECT v1.roll:443", 405],
  ["GET /v1/roll", 405, "X-HTTP-Method-Override: POST"],
  ["POST /v1/roll?_method=GET", 402, "X-HTTP-Method: GET"],
  // No header speaks for another path, or for a payment.
  ["POST /v1/roll", 402, "X-Original-URL: /health"],
  ["POST /v1/roll", 402, "X-Rewrite-URL: /health"],
  ["POST /v1/roll", 402, "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: internal"],
  ["POST /v1/roll", 402, "Payment-Response: good", "X-Payment-Response: good"],
  ["POST /v1/roll", 402, "Authorization: Bearer good", "Cookie: payment-signature=good"],
  ["POST /v1/roll", 402, "Upgrade: websocket"],
  ["POST /v1/roll", 402, "Expect: a-miracle"],
  ["POST /v1/roll", 402, "Payment-Signature: good", "Payment-Signature: good"],
  ["POST /v1/roll", 400, "Content-Length: 0", "Content-Length: 5"],
  ["POST /v1/roll", 400, "Content-Length: 0", "Transfer-Encoding: chunked"],
  ["POST /v1/roll", 400, "Transfer-Encoding: chunked, identity"],
  ["POST /v1/roll", 400, "Transfer-Encoding : chunked"],
  ["POST /v1/roll", 400, "Bad Header: x"],
];

describe("a path or method trick", () => {
  let door: Door;
  before(async () => {
    door = await openDoor(SERVICES);
  });
  after(() => door.close({ graceMs: 0 }));

  for (const [line, status, ...headers] of TRICKS)
    it(`${[line, ...headers].join(" + ")} gets ${status} and runs nothing`, async () => {
      const answer = await speak(
        door.port,
        [`${line} HTTP/1.1`, "Host: x", "Connection: close", ...headers, "", ""].join("\r\n"),
      );
      expect(answer.slice(0, 12), answer).to.equal(`HTTP/1.1 ${status}`);
      expect(door.calls.filter(({ invocation }) => invocation.payment === "good")).to.deep.equal([]);
    });

  it("cannot smuggle a second request behind a first", async () => {
    const inner = "GET /v1/screen HTTP/1.1\r\nHost: x\r\nPayment-Signature: good\r\n\r\n";
    const answer = await speak(
      door.port,
      `POST /v1/roll HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    );
    expect(answer.match(/HTTP\/1.1 \d+/g)).to.deep.equal(["HTTP/1.1 402"]);
    expect(door.calls.filter(({ invocation }) => invocation.payment === "good")).to.deep.equal([]);
  });

  it("does not work without a host, or in another protocol", async () => {
    expect(await speak(door.port, "POST /v1/roll HTTP/1.1\r\n\r\n")).to.match(/^HTTP\/1.1 400/);
    expect(await speak(door.port, "POST /v1/roll HTTP/3.0\r\nHost: x\r\n\r\n")).to.match(/^HTTP\/1.1 400/);
    expect(await speak(door.port, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")).to.match(/^HTTP\/1.1 400/);
    expect(await speak(door.port, "POST /v1/roll HTTP/1.0\r\n\r\n")).to.match(/^HTTP\/1.1 402/);
  });
});
