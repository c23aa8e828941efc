/** Splits a process's standard error into lines. */
export interface Lines {
  add(text: string): void;
  /** Passes on the last line, if it has no line break. */
  end(): void;
}

const LONGEST = 500;
const MOST = 100;
const WITHIN_MS = 60_000;

/** Passes on the lines of a chunked text: at most 100 a minute and 500 characters each; reports omitted lines. */
export function createLines(onLine: (line: string) => void, now: () => number): Lines {
  let rest = "";
  let since = 0;
  let count = 0;

  return {
    add(text) {
      const lines = (rest + text).split("\n");
      rest = (lines.pop() ?? "").slice(0, LONGEST);
      lines.forEach(tell);
    },
    end() {
      tell(rest);
      rest = "";
    },
  };

  function tell(line: string): void {
    if (line.trim() === "") return;
    if (Math.abs(now() - since) >= WITHIN_MS) {
      // Absolute: a clock that was set back omits nothing.
      if (count > MOST) onLine(`${count - MOST} further lines were left out`);
      since = now();
      count = 0;
    }
    count += 1;
    if (count <= MOST) onLine(line.slice(0, LONGEST));
  }
}
