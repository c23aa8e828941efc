import { pathOf } from "../../core/base-url.ts";

/** Attributes of pages that hold paths of this server. Page text cannot match, because its quotes are escaped. */
const OWN_PATH = /(\s(?:href|src|data-path)=")(?=\/)/g;

/** Prefixes the paths in a page's markup with the path of the base URL. */
export function belowBase(markup: string, baseUrl: string): string {
  const path = pathOf(baseUrl);
  return path === "" ? markup : markup.replaceAll(OWN_PATH, `$1${path}`);
}
