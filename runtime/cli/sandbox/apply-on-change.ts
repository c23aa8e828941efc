import { Problem } from "../../api/problem.ts";
import { toChangeLines } from "../history/change.ts";
import type { Running } from "../serve/run.ts";

/** Applies the folder after a change, and prints the differences, or the faults like `check`. */
export async function applyOnChange(
  { changes }: Pick<Running, "changes">,
  print: (text: string) => void,
): Promise<void> {
  const begun = performance.now();
  try {
    const { changes: all, times } = await changes.apply("watch");
    if (!times) return;
    const took = Math.round(performance.now() - begun);
    print([...toChangeLines(all), `applied in ${took} ms`].join("\n"));
  } catch (error) {
    const { message, options } = Problem.from(error);
    print(`${message}${options.cause ? `\n${String(options.cause)}` : ""}\nwhat was sold before goes on`);
  }
}
