/** An untrusted document that needs a parser. */
export type DocumentSource =
  | { readonly kind: "html"; readonly html: string; readonly url: string; readonly isXml?: boolean }
  | { readonly kind: "pdf"; readonly bytes: Uint8Array };

/** Why a text is not the document's. */
export const FAULTS = {
  needsScripts: "The page shows its text only with scripts, which are not run here",
  isGuarded: "The site shows a check, a sign-in, a redirect or an error in place of the page",
  isFramed: "The page shows its text in a frame or a field, which is not read",
  isPart: "The site shows only the beginning of the text to those who have not subscribed",
  lacksLetters: "The PDF has fonts that leave their letters to tables which are not here",
  isScan: "Most pages of the PDF hold no text, as those of a scan",
} as const;

export type DocumentText = { readonly text: string } & { readonly [Fault in keyof typeof FAULTS]?: boolean };

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
