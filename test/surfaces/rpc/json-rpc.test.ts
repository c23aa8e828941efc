import { expect } from "chai";
import { PROBLEMS, Problem, type ProblemCode } from "../../../runtime/api/problem.ts";
import { RPC_CODES } from "../../../runtime/surfaces/rpc/json-rpc.ts";

const STANDARD: readonly number[] = Object.values(RPC_CODES);

describe("the JSON-RPC codes of our problems", () => {
  const codes = Object.values(PROBLEMS).map(({ rpc }) => rpc);

  it("know JSON-RPC's own", () => {
    expect(STANDARD).to.have.members([-32700, -32600, -32601, -32602, -32603]);
  });

  it("are JSON-RPC's own, or outside of the range that it reserves, where MCP's and A2A's codes are", () => {
    for (const code of codes) expect(STANDARD.includes(code) || code < -32768, String(code)).to.equal(true);
  });

  it("say the HTTP status too where they are ours", () => {
    for (const { status, rpc } of Object.values(PROBLEMS))
      if (!STANDARD.includes(rpc)) expect(Math.floor(-rpc / 100)).to.equal(status);
  });

  it("are one for each problem", () => {
    expect(new Set(codes).size).to.equal(codes.length);
  });

  it("come with the sentence, and with the problem document as data", () => {
    for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
      const error = new Problem(code, "Why it failed").toRpcError("r-1");
      expect(error).to.deep.include({ code: PROBLEMS[code].rpc, message: "Why it failed" });
      expect(error.data).to.include({ code, status: PROBLEMS[code].status, request_id: "r-1" });
    }
  });
});
