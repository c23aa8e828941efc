import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** A header in which a trusted proxy names the user who has logged in there. */
export interface LoginHeader {
  /** In lower case. */
  readonly name: string;
  /** The trusted proxies: IP addresses and CIDR ranges. */
  readonly from: readonly string[];
}

/** Whether a request comes from a trusted proxy where a user has logged in. */
export function createLoginCheck({ name, from }: LoginHeader): (request: IncomingMessage) => boolean {
  const proxies = new BlockList();
  for (const each of from) {
    const [address = "", bits] = each.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }

  return ({ socket, rawHeaders, headers }) => {
    const { remoteAddress } = socket;
    const version = isIP(remoteAddress ?? "");
    if (!remoteAddress || version === 0 || !proxies.check(remoteAddress, version === 6 ? "ipv6" : "ipv4")) return false;
    // When the header comes twice, one of them may be forged by the caller.
    const given = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name);
    return given.length === 1 && String(headers[name] ?? "").trim() !== "";
  };
}
