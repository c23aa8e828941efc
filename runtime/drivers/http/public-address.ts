import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** `2000::/3`: all global unicast IPv6 addresses that IANA assigns. */
const GLOBAL = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/**
 * Internal addresses of clouds within public ranges. The metadata servers of other clouds (169.254.0.0/16,
 * 100.100.100.200, 192.0.0.192, fd00:ec2::254, fd20:ce::254) are in ranges that are never public.
 */
const CLOUDS: readonly [ipaddr.IPv4, number][] = [
  "168.63.129.16/32", // Azure's wire server: DNS, DHCP and the host's agent.
  "192.80.8.124/32", // Equinix Metal's metadata.
  "161.26.0.0/16", // IBM Cloud's service network.
  "166.8.0.0/14", // IBM Cloud's private service endpoints.
  "199.36.153.4/30", // Google's restricted APIs, which trust a network's own perimeter.
  "199.36.153.8/30", // Google's private APIs.
].map((range) => ipaddr.IPv4.parseCIDR(range));

/**
 * Whether an IP address may belong to a host on the public internet. An IPv4-mapped IPv6 address is judged by its IPv4
 * address; other IPv6 addresses that embed an IPv4 address (6to4, Teredo, NAT64, translated) are refused.
 */
export function isPublicAddress(address: string): boolean {
  const withoutZone = address.replace(/%.*$/, "");
  if (isIP(withoutZone) === 0) return false;
  const parsed = ipaddr.process(withoutZone);
  if (parsed.range() !== "unicast") return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL);
  return !CLOUDS.some((range) => parsed.match(range));
}
