/** What services publish beside their answers. */

/** A file for the buyer, read in a browser at an address that cannot be guessed. */
export interface ReportFile {
  /** The last part of its address, e.g. `report.md`: at most 80 lower-case letters, digits and `._-`. */
  readonly name: string;
  /** The media type, for text with its charset: `text/markdown; charset=utf-8`. Scripts of a page are blocked. */
  readonly type: string;
  /** At most 32 MB in UTF-8. */
  readonly body: string;
}

/** A report for people as a page of the site: `report.html`. Its texts are shown as they are; no markup in them works. */
export interface ReportPage {
  /**
   * GitHub-flavoured markdown whose first heading is the page's title. Addresses and transactions in code spans are
   * shortened and lead to the explorers of the rails; amounts in tables are rounded, with the exact value on hover. Links
   * and images are shown as texts.
   */
  readonly markdown: string;
  /** What came out, in a few words each, the most important first. */
  readonly results: readonly ReportResult[];
  /** A sentence below the results. */
  readonly note?: string | undefined;
  /** The published files, in the order in which they are offered. */
  readonly files: readonly { readonly name: string; readonly url: string; readonly sha256: string }[];
  readonly figures: readonly ReportFigure[];
  /** How the files are proven, line by line; the hashes of the files stand before it. */
  readonly proof: readonly { readonly term: string; readonly value: string; readonly url?: string | undefined }[];
}

/** One result of a report, for the head of its page. */
export interface ReportResult {
  readonly label: string;
  readonly value: string;
  /** How good or bad it is, for its colour; left out where it is neither. */
  readonly tone?: "good" | "fair" | "bad" | "worst" | undefined;
  /** Draws a meter: 0 to 100. */
  readonly meter?: number | undefined;
}

/** A picture of a report's page. */
export interface ReportFigure {
  /** The text of the markdown's heading that it stands under. */
  readonly under: string;
  /** An SVG element without script: the only markup that a page takes from a plugin. */
  readonly svg: string;
  /** The same for screens as narrow as a phone's. */
  readonly narrow?: string | undefined;
  readonly caption?: string | undefined;
}

/** Files that services publish beside their answers. */
export interface Reports {
  /**
   * Keeps the file for 90 days, as long as jobs are kept, at a new address with at least 128 random bits. Call it in a
   * step of its own (`call.step`): a job that resumes after a crash then gets the same address again.
   * @returns the absolute URL. @throws Problem `payload-too-large`; `unavailable` when the file cannot be stored.
   */
  publish(file: ReportFile): Promise<string>;
  /** Publishes a report's page; it holds its style and pictures, and is whole without its script. As `publish`. */
  publishPage(page: ReportPage): Promise<string>;
}
