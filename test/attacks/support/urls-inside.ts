import { networkInterfaces } from "node:os";

const HAS_IPV6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ family }) => family === "IPv6"),
);
/** Every address of this machine. */
export const ANY = HAS_IPV6 ? "::" : "0.0.0.0";
/** The one address that stands for the public internet here; all others are judged as ever. */
export const PUBLIC = "127.0.0.2";

/** What an attacker's own name server says. `one.example` is an honest site. */
export const NAMES: Readonly<Record<string, readonly string[]>> = {
  "one.example": [PUBLIC],
  "loopback.example": ["127.0.0.1"],
  "loopback6.example": ["::1"],
  "mapped.example": ["::ffff:127.0.0.1"],
  "metadata.example": ["169.254.169.254"],
  "private.example": ["10.0.0.1"],
  "mixed.example": [PUBLIC, "127.0.0.1"],
  "mixed-last.example": ["127.0.0.1", PUBLIC],
  "mixed-families.example": [PUBLIC, "::1"],
  "nothing.example": [],
  "nonsense.example": ["localhost"],
  "127.0.0.1.dns.example": ["127.0.0.1"],
};

/** Ways to write an address in a URL, with `PORT` where the server inside listens. */
export const REACHES_INSIDE = [
  "127.0.0.1:PORT",
  "127.1:PORT",
  "127.8.9.10:PORT",
  "0x7f.1:PORT",
  "0x7f000001:PORT",
  "2130706433:PORT",
  "0177.0.0.1:PORT",
  "0177.0x0.0.1:PORT",
  "127.0.0.1.:PORT",
  "127.0.0.1:0PORT",
  "%31%32%37.0.0.1:PORT",
  "①②⑦.⓪.⓪.①:PORT",
  "１２７.0.0.1:PORT",
  "127。0。0。1:PORT",
  "127.0.\t0.1:PORT",
  "0.0.0.0:PORT",
  "0:PORT",
  "localhost:PORT",
  "LOCALHOST:PORT",
  "loopback.example:PORT",
  "127.0.0.1.dns.example:PORT",
  ...(HAS_IPV6 ? ["[::1]:PORT", "[::]:PORT", "[0:0:0:0:0:0:0:1]:PORT", "loopback6.example:PORT"] : []),
  ...(HAS_IPV6 ? ["[::ffff:127.0.0.1]:PORT", "[::ffff:7f00:1]:PORT", "mapped.example:PORT"] : []),
];
export const ALSO_NOT_PUBLIC = [
  "[::127.0.0.1]:PORT",
  "[::ffff:0:127.0.0.1]:PORT",
  "[64:ff9b::7f00:1]:PORT",
  "[64:ff9b::8.8.8.8]:PORT",
  "[2002:7f00:1::]:PORT",
  "[2001:0:7f00:1::]:PORT",
  "[fe80::1]:PORT",
  "[fe80::1%25lo]:PORT",
  "[fc00::1]:PORT",
  "[fd00:ec2::254]",
  "[fec0::1]:PORT",
  "[ff02::1]:PORT",
  "[2001:db8::1]:PORT",
  "169.254.169.254",
  "0xa9fea9fe",
  "metadata.example",
  "private.example",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.0.1",
  "100.64.0.1",
  "192.0.0.192",
  "192.0.2.1",
  "198.18.0.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "mixed.example:PORT",
  "mixed-last.example:PORT",
  "mixed-families.example:PORT",
  "nothing.example:PORT",
  "nonsense.example:PORT",
  "one.example@127.0.0.1:PORT",
  "one.example:80@127.0.0.1:PORT",
  "127.0.0.1:PORT#@one.example",
  "127.0.0.1:PORT\\@one.example",
  "one.example:@127.0.0.1:PORT",
  "one.example:65536",
];
/** What no web server is asked for, wherever it is written. */
export const NOT_HTTP = [
  "file:///etc/passwd",
  "gopher://127.0.0.1:PORT/_GET%20/",
  "ftp://127.0.0.1:PORT/",
  "dict://127.0.0.1:PORT/",
  "ws://127.0.0.1:PORT/",
  "unix:///var/run/docker.sock",
  "data:text/plain,secret",
  "blob:http://127.0.0.1:PORT/0",
  "javascript:alert(1)",
];
