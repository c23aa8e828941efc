import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** `2000::/3`: all that IANA gives out as global unicast. */
const GLOBAL = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/**
 * Whether an IP address can be somebody's on the public internet. IPv4 addresses in IPv6 clothes are looked at themselves
 * (mapped ones), or refused whole, whatever is inside (6to4, Teredo, NAT64, translated).
 */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, "");
  if (isIP(plain) === 0) return false;
  const parsed = ipaddr.process(plain);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(GLOBAL);
}
