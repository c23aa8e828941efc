import { setTimeout } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import { toAccount } from "../../core/account.ts";
import type { BookLine, Books } from "../../core/books/books.ts";
import { readPrices } from "../../core/notes/prices.ts";
import { readRefusals } from "../../core/notes/refusals.ts";
import { isTestSite } from "../../core/rails/networks.ts";
import type { AdminRequest, AdminRoute } from "../../server/admin/routes.ts";
import type { Reply } from "../../server/reply/reply.ts";
import type { Html } from "../../surfaces/pages/html.ts";
import { toBuyer, toBuyers } from "../../surfaces/pages/seller/buyers.ts";
import { toTime } from "../../surfaces/pages/seller/figures.ts";
import { SELLER_POLICY, toMissing, toSellerPage, toUnread, toWaiting } from "../../surfaces/pages/seller/frame.ts";
import { toFunnel } from "../../surfaces/pages/seller/funnel.ts";
import { toJob } from "../../surfaces/pages/seller/job.ts";
import { toJobs } from "../../surfaces/pages/seller/jobs.ts";
import { type SaleFate, toSale } from "../../surfaces/pages/seller/sale.ts";
import { toSales } from "../../surfaces/pages/seller/sales.ts";
import { toService } from "../../surfaces/pages/seller/service.ts";
import { toServicesView } from "../../surfaces/pages/seller/services.ts";
import { toToday } from "../../surfaces/pages/seller/today.ts";
import type { ShopView, Trouble } from "../../surfaces/pages/seller/view.ts";
import type { BookAccess } from "./book-access.ts";
import { createJobDesk } from "./jobs.ts";
import { findLostBooks } from "./lost-books.ts";
import { pageFiles } from "./page-files.ts";
import { readSaleFate } from "./sale-fate.ts";
import { createShopViews, type SoldServices } from "./shop-view.ts";
import { createStateReader, type SoldSet, type StateDeps } from "./state.ts";
import { findStuck, findTroubles } from "./troubles.ts";
import { createUnsentSearch } from "./unsent.ts";

export interface SellerPagesDeps extends Omit<StateDeps, "sold"> {
  readonly sold: () => SoldSet & SoldServices;
  readonly books: Pick<BookAccess, "open" | "taken">;
  readonly isSandbox: boolean;
  /** When omitted, the shop's folder is not checked. */
  readonly folderCheck?: (() => readonly Trouble[]) | undefined;
  /** How long a page waits while the book is being copied. */
  readonly patienceMs?: number;
}

/** Makes a page's title and content; undefined for a page that does not exist. */
type Make = (view: ShopView, request: AdminRequest) => Promise<Html | undefined> | Html | undefined;

/** The seller's pages and their files, as routes of the admin listener. They are read-only. */
export function createSellerPages(deps: SellerPagesDeps): readonly AdminRoute[] {
  const { sold, config, store, log, books: access, isSandbox, patienceMs = PATIENCE_MS } = deps;
  const readState = createStateReader(deps);
  const views = createShopViews(deps);
  const isShown = config.admin.port !== undefined;
  if (isShown) void readState().catch(() => {}); // The first look need not wait for the chains.
  if (isShown && config.redisUrl === undefined) void setTimeout(WARM_AFTER_MS, undefined, { ref: false }).then(warm);
  const jobs = createJobDesk(store);
  const findUnsent = createUnsentSearch(store);
  const fateOf = (sale: BookLine): Promise<SaleFate> => readSaleFate(store, sale);

  const page = (path: string, title: string, make: Make, view = path): AdminRoute => ({
    method: "GET",
    path,
    async handle(request) {
      try {
        const books = await access.open();
        if (!(await isFresh(books, patienceMs))) return answerLater(title, view);
        return answer(title, view, await make(await views.read(books, request), request));
      } catch (error) {
        const { status, message } = Problem.from(error);
        if (status < 500) throw error;
        log.error("admin.failed", { path: request.path, error });
        return { ...answer(title, view, toUnread(title, message)), status };
      }
    },
  });
  return [
    page("/", "Today", async (view) => {
      const { site, ready, services, jobsWaiting } = sold();
      const [state, report, oldest, unsent] = await Promise.all([
        readState(),
        ready(),
        jobsWaiting(1),
        findUnsent(site.webhooks, view.now),
      ]);
      const stuck = findStuck(oldest, services, view.now);
      const lost = findLostBooks(config.dataDir);
      const troubles = [...findTroubles(state, report), ...lost, ...stuck, ...unsent, ...(deps.folderCheck?.() ?? [])];
      return toToday(view, { troubles, owed: state.refunds && state.refunds.pending + state.refunds.manual });
    }),
    page("/funnel", "Funnel", toFunnel),
    page("/services", "Services", toServicesView),
    page(
      "/services/:id",
      "Service",
      async (view, { params: { id = "" } }) => toService(view, id, await readPrices(store, id)),
      "/services",
    ),
    page("/sales", "Sales", (view, { query }) => toSales(view, toQuery(query))),
    page("/sales/:id", "Sale", (view, { params }) => toSale(view, params.id ?? "", fateOf), "/sales"),
    page("/buyers", "Buyers", async (view) => toBuyers(view, await readRefusals(store, view.now))),
    page("/buyers/:payer", "Buyer", showBuyer, "/buyers"),
    page("/jobs", "Jobs and refunds", async (view) => toJobs(view, await jobs.overview(sold()))),
    page("/jobs/:id", "Job", showJob, "/jobs"),
    ...pageFiles,
  ];

  /** When the server closes meanwhile, it closes the book, and this function ends. */
  async function warm(): Promise<void> {
    await access
      .open()
      .then(views.warm)
      .catch(() => {});
  }

  async function showBuyer(view: ShopView, { params }: AdminRequest): Promise<Html | undefined> {
    const payer = toAccount(params.payer ?? "");
    const refusals = await readRefusals(store, view.now);
    return toBuyer(
      view,
      payer,
      refusals.find((each) => each.payer === payer),
    );
  }

  /** Work that is no job has an id as well, and may be owed: its sale is shown. */
  async function showJob(view: ShopView, { params: { id = "" } }: AdminRequest): Promise<Html | undefined> {
    const job = await jobs.read(id);
    if (job) return toJob(view, job);
    const sale = view.books.find(id).find((line) => line.kind === "sale" && line.job === id);
    return sale && toSale(view, sale.id, fateOf);
  }

  function answerLater(title: string, path: string): Reply {
    const again = ["Refresh", `${AGAIN_SECONDS}`, "Retry-After", `${AGAIN_SECONDS}`];
    const { headers, ...reply } = answer(title, path, toWaiting(title, access.taken()));
    return { ...reply, status: 503, headers: [...headers, ...again] };
  }

  function answer(title: string, path: string, main: Html | undefined): Reply {
    const { site } = sold();
    const body = toSellerPage(
      { site: site.title, isSandbox, isTest: isTestSite(site), madeAt: toTime(Date.now()) },
      { title, path, main: main ?? toMissing(title) },
    );
    const headers = ["Content-Type", "text/html; charset=utf-8", "Content-Security-Policy", SELLER_POLICY];
    return { status: main ? 200 : 404, headers, body };
  }
}

const PATIENCE_MS = 5000;
const AGAIN_SECONDS = 5;

/** Whether the book is up to date, or becomes so within this time. Reading goes on after that. */
async function isFresh(books: Pick<Books, "refresh">, patienceMs: number): Promise<boolean> {
  const late = new AbortController();
  const refreshed = books.refresh().then(() => true);
  const waited = setTimeout(patienceMs, false, { signal: late.signal });
  return Promise.race([refreshed, waited]).finally(() => {
    for (const one of [refreshed, waited]) one.catch(() => {}); // The next page reports the error.
    late.abort();
  });
}

/** A server that has just started has more urgent work. */
const WARM_AFTER_MS = 20_000;

const LONGEST_QUERY = 200;

function toQuery(query: URLSearchParams): Parameters<typeof toSales>[1] {
  const get = (name: string): string | undefined => query.get(name)?.trim().slice(0, LONGEST_QUERY) || undefined;
  return { text: get("q") ?? "", service: get("service"), after: get("after") };
}
