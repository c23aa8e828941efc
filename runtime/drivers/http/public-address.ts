import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** `2000::/3`: all global unicast IPv6 addresses that IANA assigns. */
const GLOBAL = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/**
 * Whether an IP address may belong to a host on the public internet. An IPv4-mapped IPv6 address is judged by its IPv4
 * address; other IPv6 addresses that embed an IPv4 address (6to4, Teredo, NAT64, translated) are refused.
 */
export function isPublicAddress(address: string): boolean {
  const withoutZone = address.replace(/%.*$/, "");
  if (isIP(withoutZone) === 0) return false;
  const parsed = ipaddr.process(withoutZone);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(GLOBAL);
}
