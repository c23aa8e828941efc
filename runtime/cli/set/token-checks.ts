import type { SiteDraft } from "../../core/set/draft.ts";
import { type Fault, faultAt } from "../../core/set/faults.ts";
import { isEvm } from "../../core/set/manifest.ts";
import { fitsChecksum } from "../config/eip55.ts";

const COMPLAINT = "its capitals do not fit its checksum (EIP-55): a digit may be wrong; buyers' clients refuse it";

/** Finds tokens whose capitals are wrong. What is no address at all is found by the checks of rails. */
export function checkTokens(site: SiteDraft): Fault[] {
  return (site.data.rails ?? []).flatMap((rail, at) => {
    if (!isEvm(rail) || !/^0x[0-9a-fA-F]{40}$/.test(rail.asset) || fitsChecksum(rail.asset)) return [];
    return [faultAt(site, ["rails", at, "asset"], "bad-asset", COMPLAINT)];
  });
}
