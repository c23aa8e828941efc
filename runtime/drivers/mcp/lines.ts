/** Takes what a process writes to standard error. */
export interface Lines {
  add(text: string): void;
  /** Tells the last line, which nothing ends. */
  end(): void;
}

const LONGEST = 500;
const MOST = 100;
const WITHIN_MS = 60_000;

/** Tells the lines of a text that comes in parts: at most 100 a minute, each at most 500 characters, and how many it left out. */
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
    if (now() - since >= WITHIN_MS) {
      if (count > MOST) onLine(`${count - MOST} further lines were left out`);
      since = now();
      count = 0;
    }
    count += 1;
    if (count <= MOST) onLine(line.slice(0, LONGEST));
  }
}
