import { FLAGS, type Flag } from "../../../plugins/wallet/screen/flags.ts";
import { openWorldSource, type WorldSource, type WorldSourceOptions } from "./source.ts";

/** The data of GoPlus. */
export interface GoPlusOptions extends Omit<WorldSourceOptions, "answer"> {
  /** The flags against addresses, in lower case. */
  readonly flags?: Readonly<Record<string, readonly Flag[]>>;
  /** How many partial answers an address gets before a complete one. */
  readonly partialFirst?: number;
}

/** GoPlus' refusal above its limit of 30 requests a minute: in the body, with status 200. */
export const TOO_MANY = JSON.stringify({ code: 4029, message: "too many requests", result: null });

/** GoPlus' address security API over HTTP. */
export function openGoPlus({ flags = {}, partialFirst = 0, ...rest }: GoPlusOptions): Promise<WorldSource> {
  return openWorldSource({
    ...rest,
    answer({ name, times }) {
      const known = flags[name.split("/").at(-1)?.toLowerCase() ?? ""] ?? [];
      const fields = Object.keys(FLAGS).map((flag) => [flag, known.includes(flag as Flag) ? "1" : "0"]);
      const result = { ...Object.fromEntries(fields), contract_address: "0", data_source: "" };
      return times < partialFirst
        ? { code: 2, message: "partial data", result: {} }
        : { code: 1, message: "ok", result };
    },
  });
}
