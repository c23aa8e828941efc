import type { Path } from "../schema/nodes.ts";
import type { SiteDraft } from "../set/draft.ts";
import { type Fault, faultAt, faultAtKey } from "../set/faults.ts";
import type { UpstreamManifest } from "../set/manifest.ts";
import { CREDENTIAL } from "./check-head.ts";

/** Checks where the upstreams of a site take their credentials from. */
export const checkUpstreamKeys = (site: SiteDraft): Fault[] =>
  (site.data.upstreams ?? []).flatMap((upstream, at) => [
    ...checkUrl(site, upstream, ["upstreams", at, "url"]),
    ...checkKey(site, upstream, ["upstreams", at, "key"]),
  ]);

/** `_site.yaml` is shown to others; only the environment holds secrets. */
function checkUrl(site: SiteDraft, { url: text }: UpstreamManifest, path: Path): Fault[] {
  const url = text === undefined ? null : URL.parse(text);
  if (!url) return [];
  const { file } = site;
  const fail = (complaint: string): Fault[] => [
    { file, ...site.locate(path), code: "secret-in-set", message: complaint },
  ];
  const label = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  if (url.username !== "" || url.password !== "")
    return fail(`${label.slice(1)}: a user name and a password stand in the URL that variable names`);
  const name = [...url.searchParams.keys()].find((key) => CREDENTIAL.test(key));
  if (name !== undefined)
    return fail(`${label.slice(1)}: the credential "${name}" stands in a variable, which key names with query`);
  return url.hash === "" ? [] : [faultAt(site, path, "bad-url", "a fragment is never sent: leave it out")];
}

function checkKey(site: SiteDraft, { key }: UpstreamManifest, path: Path): Fault[] {
  if (!key) return [];
  const { header, query, scheme } = key;
  if (header === undefined && query === undefined)
    return [
      {
        ...faultAtKey(
          site,
          [...path, "header"],
          "missing-key",
          "is missing, and so is query: say where the credential is sent",
        ),
        ...site.locate(path, "key"),
      },
    ];
  if (header !== undefined && query !== undefined)
    return [
      faultAtKey(site, [...path, "query"], "bad-upstream", "the credential is sent in a header already: leave one out"),
    ];
  return scheme !== undefined && header === undefined
    ? [faultAtKey(site, [...path, "scheme"], "bad-upstream", "a scheme stands in a header: leave it out")]
    : [];
}
