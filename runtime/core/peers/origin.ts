const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
/** The last label begins with a letter, which excludes every form of an IPv4 address. */
const ORIGIN = new RegExp(`^https://((?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)$`);
/** Suffixes that the public DNS does not serve. */
const PRIVATE = [".local", ".internal", ".localhost", ".home.arpa"];
const LONGEST_NAME = 253;

const RIGHT =
  "https:// and a public DNS name in lower case, like https://peer.example: no port, no path, no slash at its end";

/** What is wrong with a peer's origin, or nothing. The grammar is narrow, because the card is fetched from there. */
export function explainOrigin(origin: string): string | undefined {
  const host = ORIGIN.exec(origin)?.[1];
  if (host === undefined || host.length > LONGEST_NAME) return `origin must be exactly ${RIGHT}`;
  return PRIVATE.some((suffix) => `.${host}`.endsWith(suffix)) ? "origin must be a name of the public DNS" : undefined;
}
