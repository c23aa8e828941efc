import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** A header by which a proxy in front says who has logged in there. */
export interface LoginHeader {
  /** In lower case. */
  readonly name: string;
  /** The proxies that are believed: IP addresses and CIDR ranges. */
  readonly from: readonly string[];
}

/** Whether a request comes from a proxy that is believed, and somebody has logged in there. */
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
    // Where it comes twice, one of them is the caller's own.
    const given = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name);
    return given.length === 1 && String(headers[name] ?? "").trim() !== "";
  };
}
