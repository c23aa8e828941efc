import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

const FIXTURES = join(import.meta.dirname, "../../../../fixtures/a2a");
const read = (name: string): string => readFileSync(join(FIXTURES, name), "utf8");

/** A certificate for `one.example`, `two.example` and `peer.example`. */
export const TLS = { key: read("tls.key.pem"), cert: read("tls.cert.pem") };

/** Lets this process trust that certificate, and gives the function that ends it. */
export function trustTestCertificate(): () => void {
  const usual = getCACertificates("default");
  setDefaultCACertificates([...usual, TLS.cert]);
  return () => setDefaultCACertificates(usual);
}
