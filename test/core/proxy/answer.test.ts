import { expect } from "chai";
import { readBody, toOutput } from "../../../runtime/core/proxy/answer.ts";
import { holds, readCondition } from "../../../runtime/core/proxy/condition.ts";
import { messageIn, messageOf } from "../../../runtime/core/proxy/message.ts";

const XML = '<?xml version="1.0" encoding="ISO-8859-1"?><a>caf\u00e9</a>';

const BIG_ENDIAN = Buffer.from(`\uFEFF${XML}`, "utf16le").swap16();

describe("an upstream's answer", () => {
  const bodies: readonly [what: string, type: string | null, body: string | Buffer, value: unknown][] = [
    ["JSON, whatever it is called", "text/plain", '{"a":1}', { a: 1 }],
    ["a text", "text/csv", "a,b\n1,2", "a,b\n1,2"],
    ["no page", "text/html; charset=utf-8", "<p>{}", undefined],
    ["no text that is called a page", "text/html; charset=utf-8", '"1"', undefined],
    ["JSON, also where it is called a page", "text/html; charset=utf-8", '{"a":1}', { a: 1 }],
    ["no page, where nothing says what it is", null, "\n<!DOCTYPE html><html></html>", undefined],
    ["no page that is called a table", "text/csv", "\ufeff\n<!doctype HTML><p>Sign in", undefined],
    ["a page's text, where it may be what was asked for", "text/plain", "<!doctype html><p>", "<!doctype html><p>"],
    ["JSON after a byte order mark", "application/json", '\ufeff{"a":1}', { a: 1 }],
    ["the text of its charset", 'text/plain; charset="ISO-8859-1"', Buffer.from("caf\u00e9", "latin1"), "caf\u00e9"],
    ["UTF-16 in the byte order that its mark says", "text/xml; charset=utf-16", BIG_ENDIAN, XML],
    ["UTF-8 where its charset is none", "text/plain; charset=klingon", "caf\u00e9", "caf\u00e9"],
    [
      "no text whose charset and bytes are none",
      "text/csv; charset=klingon",
      Buffer.from("caf\u00e9", "latin1"),
      undefined,
    ],
    ["no text whose bytes are none", "application/json", Buffer.from('{"a":"\u00e9"}', "latin1"), undefined],
    ["XML in the charset that it declares itself", "text/xml", Buffer.from(XML, "latin1"), XML],
    ["XML in UTF-8, whatever it declares itself", "application/xml", XML, XML],
    ["no XML whose type names another charset", "text/xml; charset=utf-8", Buffer.from(XML, "latin1"), undefined],
    [
      "the events of a stream, without its end",
      "text/event-stream",
      ': hello\n\nevent: x\ndata: {"a":1}\n\ndata: two\ndata: lines\r\n\r\ndata: [DONE]\n\n',
      { events: [{ a: 1 }, "two\nlines"] },
    ],
    [
      "events with whatever their texts contain",
      "text/event-stream",
      'data: {"a":"\u2028"}\n\r\ndata: \u2029\n\rdata\ndata:b\r\r',
      { events: [{ a: "\u2028" }, "\u2029", "\nb"] },
    ],
    [
      "events whose numbers are their texts",
      "text/event-stream",
      "data: 1\n\ndata: 3.10\n\ndata: 123456789012345678901\n\n",
      { events: [1, "3.10", "123456789012345678901"] },
    ],
    ["events without the last line's end", "text/event-stream", 'data: 1\n\ndata: {"a":1}', { events: [1, { a: 1 }] }],
    ["events without their end's end", "text/event-stream", "data: 1\n\ndata: [DONE]", { events: [1] }],
    ["no stream that was cut off in an event", "text/event-stream", 'data: 1\n\ndata: {"a":', undefined],
    ["no stream that was cut off between an event's lines", "text/event-stream", "data: 1\n\ndata: {\n", undefined],
    ["no stream that was cut off in a field's name", "text/event-stream", "data: 1\n\nda", undefined],
    ["no stream that was cut off before an event's data", "text/event-stream", "data: 1\n\nevent: end\n", undefined],
    ["no stream that was cut off after an event's id", "text/event-stream", "data: 1\n\nid: 7\n", undefined],
    [
      "no stream with an event that is an error",
      "text/event-stream",
      'event: start\ndata: {"n":1}\n\nevent: error\r\ndata: {"type":"overloaded_error"}\r\n\r\n',
      undefined,
    ],
    ["no stream of nothing but comments and an end", "text/event-stream", ": hi\n\ndata: [DONE]\n\n", undefined],
    [
      "events that speak of errors",
      "text/event-stream",
      "event: errors\ndata: event: error\n\n",
      { events: ["event: error"] },
    ],
    ["lines of JSON", "application/x-ndjson", '{"a":1}\n\n{"a":2}\n', { lines: [{ a: 1 }, { a: 2 }] }],
    [
      "lines of JSON with whatever JSON contains",
      "application/jsonl",
      '{\t"a": "\u0085\u007f"}\r\n \n2',
      { lines: [{ a: "\u0085\u007f" }, 2] },
    ],
    ["no lines of which one is not JSON", "application/x-ndjson", '{"a":1}\n{"a":', undefined],
    ["a sequence of JSON", "application/json-seq", '\u001e{\n"a":1}\n\u001e[2]\n', { lines: [{ a: 1 }, [2]] }],
  ];
  for (const [what, type, body, value] of bodies)
    it(`is read as ${what}`, () => {
      expect(readBody(type, Buffer.from(body))).to.deep.equal(value);
    });

  it("has a renamed field in the place of one that has its new name already", () => {
    const rename = { base_ccy: "base" };
    expect(toOutput({ base_ccy: "EUR", base: 5 }, { rename })).to.deep.equal({ base: "EUR" });
    expect(toOutput({ base: 5, base_ccy: "EUR" }, { rename })).to.deep.equal({ base: "EUR" });
    expect(toOutput({ a: 1, b: 2 }, { rename: { a: "b", b: "a" } })).to.deep.equal({ b: 1, a: 2 });
  });

  it("is picked, renamed and wrapped, in this order", () => {
    const answer = { data: { "a/b": [{ x: 1, y: 2 }] } };
    expect(toOutput(answer, { pick: "/data/a~1b/0", rename: { x: "z" }, wrap: "it" })).to.deep.equal({
      it: { z: 1, y: 2 },
    });
    expect(toOutput(answer, { pick: "/data/none" })).to.equal(undefined);
    expect(toOutput(answer, { pick: "/data/none", wrap: "it" })).to.equal(undefined);
    expect(toOutput([1], { wrap: "list" })).to.deep.equal({ list: [1] });
    expect(toOutput({ a: 1 })).to.deep.equal({ a: 1 });
  });

  it("says what is wrong in one short line, without markup", () => {
    const said = (body: unknown): string | undefined => messageOf("application/json", JSON.stringify(body));
    expect(said({ error: { message: "no\r\n\u0007such \u202eword" } })).to.equal("no such word");
    expect(said({ errors: [{ detail: "first" }, { detail: "second" }] })).to.equal("first");
    expect(said({ message: "<script>alert(1)</script> no" })).to.equal("alert(1) no");
    expect(said({ message: "x".repeat(301) })).to.have.length(300);
    expect(said({ errors: [{ error: { message: "deep" } }] })).to.equal("deep");
    expect(said({ Message: "of .NET and AWS" })).to.equal("of .NET and AWS");
    expect(said({ errorMessages: ["of Jira"], errors: {} })).to.equal("of Jira");
    expect(said({ fault: { faultstring: "of Apigee", detail: { errorcode: "x" } } })).to.equal("of Apigee");
    expect(said({ Fault: { Error: [{ Message: "of QuickBooks" }] } })).to.equal("of QuickBooks");
    expect(said({ code: 7 })).to.equal(undefined);
    expect(messageOf("text/plain", "<!DOCTYPE html><p>no")).to.equal(undefined);
    expect(messageOf("text/plain", "no such word")).to.equal("no such word");
    expect(messageOf("text/html", "no such word")).to.equal(undefined);
    expect(messageOf("text/html", '{"error":"no such word"}')).to.equal("no such word");
    expect(messageIn("<b>No</b> such word")).to.equal("No such word");
    expect(messageIn('{"error":"no such word"}')).to.equal("no such word");
    expect(messageIn("<!DOCTYPE html><p>no")).to.equal(undefined);
    expect(messageIn("<html><p>no")).to.equal(undefined);
  });

  const conditions: readonly [text: string, status: number, body: unknown, holds: boolean][] = [
    ['/status == "done"', 200, { status: "done" }, true],
    ['/status == "done"', 200, { status: "run" }, false],
    ['/status != "run"', 200, { status: "run" }, false],
    ['/status in ["ok", "ready"]', 200, { status: "ready" }, true],
    ["/percent == 100", 200, { percent: 100 }, true],
    ["/percent == 100", 200, { percent: "100" }, false],
    ["/result", 200, { result: { a: 1 } }, true],
    ["/result", 200, { result: null }, false],
    ["/list/0", 200, { list: [] }, false],
    ["/error != null", 200, {}, false],
    ["/error != null", 200, { error: "quota" }, true],
    ["/error == null", 200, { result: 1 }, true],
    ['/status != "ok"', 200, {}, true],
    ['/status == "ok"', 200, { status: "\ud800" }, false],
    ["status == 200", 202, {}, false],
    ["status == 200", 200, null, true],
  ];
  for (const [text, status, body, expected] of conditions)
    it(`${expected ? "fulfils" : "does not fulfil"} ${text} with ${status} ${JSON.stringify(body)}`, () => {
      const condition = readCondition(text);
      if (typeof condition === "string") throw new Error(condition);
      expect(holds(condition, { status, body })).to.equal(expected);
    });
});
