import { type Path, toPathText } from "../../schema/nodes.ts";
import { didYouMean } from "../../set/did-you-mean.ts";
import { type Draft, isFaulty, type SiteDraft } from "../../set/draft.ts";
import { type Fault, faultAt, faultAtKey } from "../../set/faults.ts";
import { type KeyManifest, keysOf, type UpstreamManifest } from "../../set/manifest.ts";
import { CREDENTIAL, CREDENTIAL_FORM } from "../credential.ts";

/** Checks the credentials of a site's upstreams. */
export const checkUpstreamKeys = (site: SiteDraft): Fault[] =>
  (site.data.upstreams ?? []).flatMap((upstream, at) => [
    ...checkUrl(site, upstream, ["upstreams", at, "url"]),
    ...checkCommand(site, upstream, ["upstreams", at, "command"]),
    ...checkKey(site, upstream.key, ["upstreams", at, "key"]),
    ...(upstream.keys ?? []).flatMap((key, index) => checkKey(site, key, ["upstreams", at, "keys", index])),
    ...checkPlaces(site, upstream, ["upstreams", at]),
  ]);

/** Refuses secrets in a URL: `_site.yaml` is shown to others, so secrets belong in the environment. */
function checkUrl(site: SiteDraft, { url: text }: UpstreamManifest, path: Path): Fault[] {
  const url = text === undefined ? null : URL.parse(text);
  if (!url) return [];
  if (url.username !== "" || url.password !== "")
    return [secretAt(site, path, "a user name and a password belong in the URL that variable names")];
  const name = [...url.searchParams.keys()].find((key) => CREDENTIAL.test(key));
  if (name !== undefined)
    return [secretAt(site, path, `the credential "${name}" belongs in a variable, which key names with query`)];
  return url.hash === "" ? [] : [faultAt(site, path, "bad-url", "a fragment is never sent: leave it out")];
}

/** Refuses credentials, such as the password of a database, which some programs want among their arguments. */
function checkCommand(site: SiteDraft, { command = [] }: UpstreamManifest, path: Path): Fault[] {
  return command.flatMap((text, at) => {
    const what = URL.parse(text)?.password ? "password" : CREDENTIAL_FORM.test(text) ? "credential" : undefined;
    return what ? [secretAt(site, [...path, at], `a ${what} belongs in a variable, which env names; ${BY_SHELL}`)] : [];
  });
}

const BY_SHELL = `the program gets it by a shell: [sh, -c, 'exec program "$DATABASE_URL"']`;

/** A fault that does not repeat the value. */
function secretAt(site: SiteDraft, path: Path, complaint: string): Fault {
  return { file: site.file, ...site.locate(path), code: "secret-in-set", message: `${toPathText(path)}: ${complaint}` };
}

/** Refuses two credentials with the same header or parameter. */
function checkPlaces(site: SiteDraft, upstream: UpstreamManifest, path: Path): Fault[] {
  const places = keysOf(upstream).map(({ header, query }) =>
    header === undefined ? `query ${query}` : `header ${header.toLowerCase()}`,
  );
  const twice = places.findIndex((place, at) => places.indexOf(place) < at);
  if (twice < 0) return [];
  const at = upstream.key ? twice - 1 : twice;
  return [faultAt(site, [...path, "keys", at], "bad-upstream", `two credentials are sent in the ${places[twice]}`)];
}

function checkKey(site: SiteDraft, key: KeyManifest | undefined, path: Path): Fault[] {
  if (!key) return [];
  const { header, query, scheme } = key;
  const fail = (name: string, code: "missing-key" | "bad-upstream", complaint: string): Fault =>
    faultAtKey(site, [...path, name], code, complaint);
  if (header === undefined && query === undefined) {
    const fault = fail("header", "missing-key", "is missing, and so is query: say where the credential is sent");
    return [{ ...fault, ...site.locate(path, typeof path.at(-1) === "number" ? "value" : "key") }];
  }
  if (header !== undefined && query !== undefined)
    return [fail("query", "bad-upstream", "the credential is sent in a header already: leave one out")];
  return scheme !== undefined && header === undefined
    ? [fail("scheme", "bad-upstream", "a scheme is for a header: leave it out")]
    : [];
}

/** Checks that only tools use MCP servers, and that they use nothing else. */
export function checkMcp(draft: Draft, site: SiteDraft | undefined): Fault[] {
  const { upstreams = [], proxy } = draft.data;
  const listed = site?.data.upstreams ?? [];
  const servers = listed.filter(({ mcp }) => mcp !== undefined).map(({ id }) => id);
  const others = listed.filter(({ mcp }) => mcp === undefined).map(({ id }) => id);
  const refuse = (id: string | undefined, path: Path): Fault[] =>
    id !== undefined && servers.includes(id)
      ? [faultAt(draft, path, "bad-proxy", "is an MCP server: its tools are sold with proxy.mcp")]
      : [];
  return [
    ...refuse(proxy?.upstream, ["proxy", "upstream"]),
    ...upstreams.flatMap((id, at) => refuse(id, ["upstreams", at])),
    ...checkServer(draft, !site || isFaulty(site, "upstreams") ? undefined : { servers, others }),
    ...checkCache(draft),
  ];
}

function checkServer(
  draft: Draft,
  known: { readonly servers: readonly string[]; readonly others: readonly string[] } | undefined,
): Fault[] {
  const id = draft.data.proxy?.mcp;
  if (id === undefined || !known || known.servers.includes(id)) return [];
  const path = ["proxy", "mcp"];
  if (known.others.includes(id))
    return [faultAt(draft, path, "bad-proxy", "is no MCP server: its entry in _site.yaml says no mcp")];
  const complaint = `_site.yaml lists no upstream "${id}"${didYouMean(id, known.servers)}`;
  return [faultAt(draft, path, "unknown-upstream", complaint)];
}

function checkCache(draft: Draft): Fault[] {
  const { proxy } = draft.data;
  if (proxy?.mcp === undefined || proxy.cache === undefined) return [];
  return [faultAtKey(draft, ["proxy", "cache"], "bad-proxy", "answers of tools are not kept: leave it out")];
}
