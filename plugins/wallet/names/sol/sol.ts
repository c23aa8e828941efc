import type { Host } from "#plugin";
import { isSolName } from "../name.ts";
import { DEFAULT_TTL_SECONDS, type NameRegistry, unresolved } from "../registry.ts";
import { readAccounts, readHolder, readKey } from "./accounts.ts";
import { toFavouriteKey, toReverseKey, toSolKeys } from "./keys.ts";
import { toRegistrant } from "./registration.ts";
import { toSnsTarget } from "./sns.ts";
import type { FindHolder, SolTarget } from "./target.ts";

const SUFFIX = ".sol";
/** The first byte of a favourite-name account. */
const FAVOURITE = 4;
/** The offset of the text in a reverse account, after header and length. */
const NAME_AT = 100;

/**
 * .sol names. SNS has handed .sol over to the Solana Record Service (SNS' own names end in .sns now), but wallets still
 * use either, and the two can assign a name to different people. So an address is returned only when both agree (SNS' SDK
 * calls this `safeResolve`), and never a program's address.
 */
export function createSol({ clock, upstream }: Pick<Host, "clock" | "upstream">): NameRegistry {
  const node = upstream("solana");

  const resolve: NameRegistry["resolve"] = async (name, signal) => {
    const label = name.slice(0, -SUFFIX.length);
    if (label.includes(".")) return unresolved("The Solana Record Service, which holds .sol names, has no subdomains.");
    const keys = await toSolKeys(label);
    const addresses = [keys.registration, keys.domain, keys.token, keys.recordV2, keys.recordV1];
    const [registration, domain, token, recordV2, recordV1] = await readAccounts(node, addresses, signal);
    if (!registration || !domain) return unresolved(toAbsence(name, registration !== undefined, domain !== undefined));
    const findHolder: FindHolder = (mint) => readHolder(node, mint, signal);
    const targets = await Promise.all([
      toRegistrant(registration, keys, { findHolder, nowMs: clock.now() }),
      toSnsTarget({ domain, token, recordV2, recordV1 }, keys, findHolder),
    ]);
    return toAgreement(name, targets);
  };

  return {
    resolve,

    async primaryName(wallet, signal) {
      const [favourite] = await readAccounts(node, [await toFavouriteKey(wallet)], signal);
      if (favourite?.data[0] !== FAVOURITE) return null;
      const domain = readKey(favourite.data, 1);
      const [reverse] = await readAccounts(node, [await toReverseKey(domain)], signal);
      if (!reverse || reverse.data.length < NAME_AT) return null;
      const length = reverse.data.readUInt32LE(NAME_AT - 4);
      const name = `${reverse.data.toString("utf8", NAME_AT, NAME_AT + length)}${SUFFIX}`;
      if (!isSolName(name)) return null;
      const { addresses } = await resolve(name, signal);
      return addresses.some(({ address }) => address === wallet) ? name : null;
    },
  };
}

/** .sol names are not normalized, as .eth names are. */
const FOREIGN =
  "Beware: the name holds letters that are not ASCII, which can look like others: it may imitate another name.";

function toAgreement(name: string, [held, owned]: readonly [SolTarget, SolTarget]) {
  const refusals = new Set([held, owned].flatMap((target) => ("refusal" in target ? [target.refusal] : [])));
  if ("refusal" in held || "refusal" in owned) return unresolved(`${name} leads nowhere.`, ...refusals);
  if (held.wallet !== owned.wallet)
    return unresolved(`The Solana Record Service and SNS lead ${name} to different wallets, so no address is given.`);
  return {
    addresses: [{ chain: "solana" as const, address: held.wallet, ttl_hint_seconds: DEFAULT_TTL_SECONDS }],
    notes: /^[\x21-\x7e]+$/.test(name) ? [] : [FOREIGN],
  };
}

function toAbsence(name: string, isHeld: boolean, isOwned: boolean): string {
  if (!isHeld && !isOwned) return `${name} is not registered.`;
  const [knows, knowsNot] = isHeld ? ["The Solana Record Service", "SNS"] : ["SNS", "the Solana Record Service"];
  return `${knows} knows ${name}, ${knowsNot} does not: no address is given where the two differ.`;
}
