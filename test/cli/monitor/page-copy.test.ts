import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { createSellerPages, type SellerPagesDeps } from "../../../runtime/cli/monitor/page.ts";
import type { Books } from "../../../runtime/core/books/books.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { AdminRequest } from "../../../runtime/server/admin/routes.ts";
import { site } from "../../support/chains/chains.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

describe("the seller's pages, while the book cannot be shown", () => {
  /** The page of buyers, from a book that is as far as `refresh` says. */
  const look = async (refresh: Books["refresh"]) => {
    const books = { refresh, buyers: () => [], lines: () => [] } as unknown as Books; // All that this page asks for.
    const deps = {
      config: readConfig({}),
      store: createMemoryStore(),
      log: silentLog,
      isSandbox: false,
      patienceMs: 5,
    };
    const sold = (): ReturnType<SellerPagesDeps["sold"]> =>
      ({ site, services: [] }) as unknown as ReturnType<SellerPagesDeps["sold"]>;
    const pages = createSellerPages({ ...deps, sold, books: { open: async () => books, taken: () => 300_000 } });
    const request = {
      path: "/buyers",
      query: new URLSearchParams(),
      headers: {},
      params: {},
    } as unknown as AdminRequest;
    const { status, headers, body } = await pages.find(({ path }) => path === "/buyers")!.handle(request);
    return { status, headers, body: String(body) };
  };

  it("say how far it is, and come by themselves", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { status, headers, body } = await look(() => promise);
    expect(status).to.equal(503);
    expect(headers).to.include.members(["Refresh", "Retry-After"]);
    expect(body).to.include("300,000 entries so far").and.to.include("Buyers");
    resolve();
    const there = await look(() => promise);
    expect([there.status, there.body.includes("so far")]).to.deep.equal([200, false]);
    expect(there.headers).not.to.include("Refresh");
  });

  it("say what is wrong when it cannot be read", async () => {
    const gone = (): Promise<never> => Promise.reject(new Problem("unavailable", "The book in Redis cannot be read"));
    const { status, headers, body } = await look(gone);
    expect([status, headers[1]]).to.deep.equal([503, "text/html; charset=utf-8"]);
    expect(body).to.include("The book in Redis cannot be read").and.to.include("payphone status");
    expect(body, "the way to the other views").to.include('href="/jobs"');
  });
});
