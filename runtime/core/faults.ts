/** One fault of the manifest set. All faults of all files are reported at once; nothing starts on a faulty set. */
export interface Fault {
  /** Relative to the served directory, e.g. `manifests/roll.yaml`. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** A closed list: see FAULT_CODES. */
  readonly code: string;
  /** What is wrong, and where possible what would be right. */
  readonly message: string;
}

/** `file:line:column code message`. */
export const toLine = ({ file, line, column, code, message }: Fault): string =>
  `${file}:${line}:${column} ${code} ${message}`;
