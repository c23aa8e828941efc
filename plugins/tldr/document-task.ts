/** An untrusted document that needs a parser. */
export type DocumentSource =
  | { readonly kind: "html"; readonly html: string; readonly url: string; readonly isXml?: boolean }
  | { readonly kind: "pdf"; readonly bytes: Uint8Array };

export interface DocumentText {
  readonly text: string;
  /** Whether the page shows its text only after running its scripts, which are not run here. */
  readonly needsScripts: boolean;
  /** Whether the site shows something else in place of the page: a CAPTCHA, a refusal, a cookie wall, an error. */
  readonly isGuarded: boolean;
  /** Whether the page shows little but a frame or a field, whose text is not read. */
  readonly isFramed: boolean;
  /** Whether the page shows only the beginning of its text, and the rest to subscribers. */
  readonly isPart: boolean;
  /** Whether most pages of a PDF hold no text, as those of a scan behind its cover. */
  readonly isScan: boolean;
}

/** The message to a reading process. */
export interface ReadTask {
  readonly source: DocumentSource;
  /** Limit of the process's resident memory; Node itself takes about a fifth. */
  readonly limitBytes: number;
  /** Limit of the processor time for reading, including loading the parser. */
  readonly limitCpuMs: number;
}

/** The exit statuses of a reading process. After an error, Node exits with 1. */
export const STATUS = { failed: 1, memory: 2, time: 3 } as const;
