import { expect } from "chai";
import { type Answer, MODERN_META, openStall, type Stall } from "../mcp/served/support/stall.ts";

/** Those that are served, newest first; all but the first begin with a handshake. */
export const VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

export type Headers = Record<string, string>;

/** One stall for all tests, and requests to it by method. */
export interface EndpointStage {
  readonly stall: Stall;
  /** A request as the stateless version has it. */
  modern(method: string, params?: object, headers?: Headers): Promise<Answer>;
  /** A request of the handshake's versions; without a version, none is named. */
  old(method: string, params?: object, version?: string): Promise<Answer>;
}

/** To be called in a `describe`: opens the stall before its tests and closes it after them. */
export function stageEndpoint(): EndpointStage {
  let stall: Stall;
  before(async () => {
    stall = await openStall();
  });
  after(() => stall.close());

  return {
    get stall() {
      return stall;
    },
    modern: (method, params = {}, headers = {}) =>
      stall.post(request(method, { _meta: MODERN_META, ...params }), {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...headers,
      }),
    old: (method, params, version) =>
      stall.post(request(method, params), version === undefined ? {} : { "mcp-protocol-version": version }),
  };
}

export const request = (method: string, params?: object, id: unknown = 7): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

/** Expects an error with this code and a sentence; an `id` of null stands for an answer without one. */
export function failsWith(answer: Answer, code: number, status: number, id: unknown = 7): void {
  expect(answer.body.error, JSON.stringify(answer.body)).to.include({ code });
  expect(answer.status).to.equal(status);
  expect(answer.body.error.message).to.be.a("string").with.length.above(10);
  if (id === null) expect(answer.body).not.to.have.property("id");
  else expect(answer.body.id).to.equal(id);
}
