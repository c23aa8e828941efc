import type { Service } from "../../core/service.ts";
import { isKept, KEPT, toQuota } from "../rpc/cost.ts";
import type { LinkedSet } from "../schema/shown-set.ts";
import { toGuidance } from "./guidance.ts";

/** The text for language models (llmstxt.org): what the site is, how a call is bought, and its services. */
export function toLlmsTxt({ services, site, baseUrl, links }: LinkedSet): string {
  const line = ({ manifest, routes, path }: Service): string => {
    const methods = routes.map(({ method }) => method).join(" or ");
    const { free, sign_in: needsSignIn } = manifest;
    const given = free ? `, ${toQuota(free)} free for a wallet that signs in` : "";
    const asked = needsSignIn ? "free for a wallet that signs in" : "free";
    const price = manifest.price === undefined ? asked : `${manifest.price} USD${given}`;
    const kept = isKept(manifest) ? ` ${KEPT}` : "";
    return `- [${toLinkText(manifest.title)}](${baseUrl}${path}): ${methods}, ${price}. ${manifest.description.replaceAll(/\s+/g, " ")}${kept}`;
  };
  const [paid, free] = [true, false].map((wanted) =>
    services.filter(({ manifest }) => (manifest.price !== undefined) === wanted).map(line),
  );
  return [
    `# ${site.title}`,
    `> ${site.description}`,
    toGuidance({ services, site, baseUrl }),
    ...toSection("Paid services", paid),
    ...toSection("Free services", free),
    ...toSection(
      "More",
      Object.entries(links).map(([name, url]) => `- [${name}](${url})`),
    ),
  ]
    .join("\n\n")
    .concat("\n");
}

/** A text within the brackets of a link (CommonMark, "Backslash escapes"). */
const toLinkText = (text: string): string => text.replaceAll(/[[\]\\]/g, "\\$&");

const toSection = (title: string, lines: readonly string[] = []): string[] =>
  lines.length > 0 ? [`## ${title}`, lines.join("\n")] : [];
