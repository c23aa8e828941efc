import { pathOf } from "../../core/base-url.ts";

/** Attributes of pages that hold paths of this server. Text cannot look like one: its quotes are escaped. */
const OWN_PATH = /(\s(?:href|src|data-path)=")(?=\/)/g;

/** A page's markup, whose paths begin at the root, for a server that answers below the path of its base URL. */
export function belowBase(markup: string, baseUrl: string): string {
  const path = pathOf(baseUrl);
  return path === "" ? markup : markup.replaceAll(OWN_PATH, `$1${path}`);
}
