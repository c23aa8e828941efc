import { ens_normalize } from "@adraffy/ens-normalize";

/** A label that is its own normal form; two hyphens in its third and fourth place are reserved. */
const LABEL = "(?!..--)[a-z0-9-]+";
/** For names like most names the tables are not needed, which take 0.2 seconds and 70 MB to unfold on their first use. */
const PLAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/** The one form under which a name is looked up (ENSIP-15). @throws Error with the reason when it has none. */
export const normalizeEnsName = (name: string): string => (PLAIN.test(name) ? name : ens_normalize(name));
