import { Problem } from "../../api/problem.ts";
import { toChangeLines } from "../history/change.ts";
import type { Running } from "../serve/run.ts";

/**
 * Makes a function that applies the folder after a change, and prints the differences, or the faults like `check`. After
 * faults it also says when the folder is again what is sold.
 */
export function createApplier(
  { changes }: Pick<Running, "changes">,
  print: (text: string) => void,
): () => Promise<void> {
  let hasFailed = false;
  return async () => {
    const begun = performance.now();
    try {
      const { changes: all, times } = await changes.apply("watch");
      const took = Math.round(performance.now() - begun);
      if (times) print([...toChangeLines(all), `applied in ${took} ms`].join("\n"));
      else if (hasFailed) print("no faults any more: the folder is what is sold");
      hasFailed = false;
    } catch (error) {
      hasFailed = true;
      const { message, options } = Problem.from(error);
      print(`${message}${options.cause ? `\n${String(options.cause)}` : ""}\nwhat was sold before goes on`);
    }
  };
}
