/** An untrusted document that needs a parser. */
export type DocumentSource =
  | { readonly kind: "html"; readonly html: string; readonly url: string }
  | { readonly kind: "pdf"; readonly bytes: Uint8Array };

/** The text of a document. */
export interface DocumentText {
  readonly text: string;
  /** The page shows its text only after its scripts have run, which nobody does here. */
  readonly needsScripts: boolean;
  /** The site shows something in place of the page: a check for humans, a refusal, a cookie wall, an error. */
  readonly isGuarded: boolean;
}

/** The message to a reading process. */
export interface ReadTask {
  readonly source: DocumentSource;
  /** Limit of the process's resident memory; Node itself takes about a fifth. */
  readonly limitBytes: number;
  /** Limit of the processor time that reading takes, the loading of the parser included. */
  readonly limitCpuMs: number;
}

/** The statuses with which a reading process ends itself. Node ends it with 1 after an error. */
export const STATUS = { failed: 1, memory: 2, time: 3 } as const;
