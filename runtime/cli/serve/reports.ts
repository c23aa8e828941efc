import type { Reports } from "../../api/reports.ts";
import type { ReportShelf } from "../../core/jobs/reports.ts";
import { once } from "../../core/once.ts";
import type { ReportPageOptions } from "../../surfaces/pages/report/report-page.ts";
import { loadAssets } from "./assets.ts";

/** The `reports` capability of plugins. The libraries that render pages are loaded with the first page. */
export function createReportPublisher(
  { publish }: Pick<ReportShelf, "publish">,
  options: Omit<ReportPageOptions, "assets">,
): Reports {
  const opened = once(async () => {
    const [{ createToReportPage }, assets] = await Promise.all([
      import("../../surfaces/pages/report/report-page.ts"),
      loadAssets(),
    ]);
    return createToReportPage({ ...options, assets });
  });
  return {
    publish,
    async publishPage(page) {
      const toReportPage = await opened();
      return publish({ name: "report.html", type: "text/html; charset=utf-8", body: toReportPage(page) });
    },
  };
}
