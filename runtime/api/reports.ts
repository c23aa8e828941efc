/** What services publish besides their answers. */

/** A file for the buyer, read in a browser at an address that cannot be guessed. */
export interface ReportFile {
  /** The last part of its address, e.g. `report.md`: at most 80 lower-case letters, digits and `._-`. */
  readonly name: string;
  /** The media type, for text with its charset: `text/markdown; charset=utf-8`. Scripts of a page are blocked. */
  readonly type: string;
  /** At most 32 MB in UTF-8. */
  readonly body: string;
}

/** A report for people: the page `report.html` of the site. Its texts are escaped: markup in them has no effect. */
export interface ReportPage {
  /**
   * GitHub-flavoured markdown whose first heading is the page's title. Addresses and transactions in code spans are
   * shortened and link to the explorers of the rails; amounts in tables are rounded, with the exact value on hover.
   * Links and images are shown as text.
   */
  readonly markdown: string;
  /** The results, in a few words each, the most important first. */
  readonly results: readonly ReportResult[];
  /** A sentence below the results. */
  readonly note?: string | undefined;
  /** The published files, in display order. */
  readonly files: readonly { readonly name: string; readonly url: string; readonly sha256: string }[];
  readonly figures: readonly ReportFigure[];
  /** How the files are proven, line by line. The hashes of the files are shown above it. */
  readonly proof: readonly { readonly term: string; readonly value: string; readonly url?: string | undefined }[];
}

/** One result, shown in the head of the page. */
export interface ReportResult {
  readonly label: string;
  readonly value: string;
  /** Sets the colour; omitted when the result is neither good nor bad. */
  readonly tone?: "good" | "fair" | "bad" | "worst" | undefined;
  /** Draws a meter: 0 to 100. */
  readonly meter?: number | undefined;
}

/** A picture of a report's page. */
export interface ReportFigure {
  /** The text of the markdown heading below which it is shown. */
  readonly under: string;
  /** An SVG element without scripts: the only markup that a page accepts from a plugin. */
  readonly svg: string;
  /** A variant for narrow screens. */
  readonly narrow?: string | undefined;
  readonly caption?: string | undefined;
}

/** Files that services publish besides their answers. */
export interface Reports {
  /**
   * Stores the file for 90 days, as long as jobs, at a new URL with at least 128 random bits. Call it in a step of its
   * own (`call.step`): a job that resumes after a crash then gets the same URL again.
   * @returns the absolute URL. @throws Problem `payload-too-large`; `unavailable` when the file cannot be stored.
   */
  publish(file: ReportFile): Promise<string>;
  /** Publishes a report's page, which contains its styles and pictures, and works without scripts. As `publish`. */
  publishPage(page: ReportPage): Promise<string>;
}
