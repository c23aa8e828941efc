import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject } from "../../core/json.ts";
import { TEST_MONEY } from "../../core/rails/networks.ts";
import { railOfToken } from "../../core/rails/tokens.ts";
import type { Service } from "../../core/service.ts";
import { GRAMMARS } from "../../core/set/grammar.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { LEAST_PRICE, toAtomic, toDecimal } from "../../core/set/price.ts";
import type { Challenge } from "../../core/x402/challenge.ts";
import type { PaymentRequired, ResourceInfo } from "../../core/x402/x402.ts";
import type { Findings, Place } from "./findings.ts";

/** Coinbase's facilitator accepts about 500 characters. */
const LONGEST_DESCRIPTION = 450;
const MOST_TAGS = 5;
const LONGEST_NAME = 32;

/** Finds everything in a challenge that directories refuse or silently drop. */
export function checkChallenge(
  findings: Findings,
  place: string,
  { header, required }: Challenge,
  site: SiteManifest,
): void {
  const at = findings.at(place);
  const foreign = GRAMMARS.text?.explain(JSON.stringify(required));
  at.warn(foreign === undefined, `${foreign}: leave it out of the schemas and examples, too`);
  checkResource(at, required.resource);
  checkAmounts(at, required, site);
  checkBazaar(at, "body", required);
  checkBazaar(at, "lean form", JSON.parse(Buffer.from(header, "base64").toString()) as PaymentRequired);
}

function checkResource(at: Place, { description, serviceName, tags, iconUrl }: ResourceInfo): void {
  const isName = (text: string): boolean => /^[ -~]+$/.test(text) && text.length <= LONGEST_NAME;
  const { length } = description.startsWith(TEST_MONEY) ? description.slice(TEST_MONEY.length) : description;
  at.expect(
    length <= LONGEST_DESCRIPTION,
    `its description has ${length} characters; beyond ${LONGEST_DESCRIPTION} facilitators refuse payments silently`,
  );
  at.expect(isName(serviceName), `"${serviceName}" must be at most ${LONGEST_NAME} printable ASCII characters`);
  at.expect(tags.length <= MOST_TAGS, `it has ${tags.length} tags; directories keep ${MOST_TAGS}`);
  for (const tag of tags) at.expect(isName(tag), `the tag "${tag}" must be at most ${LONGEST_NAME} ASCII characters`);
  if (iconUrl !== undefined) at.expect(iconUrl.startsWith("https:"), "its icon must be https");
}

function checkAmounts(at: Place, { accepts }: PaymentRequired, { rails }: SiteManifest): void {
  for (const offer of accepts) {
    const rail = railOfToken(rails, offer);
    if (rail?.currency !== "usd") continue;
    const price = toDecimal(BigInt(offer.amount), rail.decimals);
    const isEnough = toAtomic(price, 18) >= toAtomic(LEAST_PRICE, 18);
    at.expect(isEnough, `it costs ${price} ${rail.symbol}; facilitators settle no less than ${LEAST_PRICE}`);
  }
}

/** Checks the extension like facilitators: `info` must fit `schema`, which may not refer to other documents. */
function checkBazaar(at: Place, part: string, { extensions }: PaymentRequired): void {
  const { info, schema } = isObject(extensions?.bazaar) ? extensions.bazaar : {};
  at.expect(isObject(schema), `its ${part} has no bazaar extension${part === "body" ? "" : TOO_LARGE}`);
  if (!isObject(schema)) return;
  const isWhole = !/"\$(?:ref|id)":"(?!#)/.test(JSON.stringify(schema));
  at.expect(isWhole, `the schema of the bazaar extension in its ${part} refers to something outside`);
  if (!isWhole) return;
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  const validate = ajv.compile(schema);
  const isFitting = validate(info);
  const faults = ajv.errorsText(validate.errors);
  at.expect(isFitting, `the bazaar extension in its ${part} does not fit its own schema: ${faults}`);
}

const TOO_LARGE = ": nothing is left of limits.head_bytes (_site.yaml); shorten the description, or raise it";

/** The challenges of each paid service, one for each door. */
export function* challengesOf(
  services: readonly Service[],
  challenge: (service: Service, resource: string) => Challenge,
  doors: readonly ((service: Service) => string)[],
): Generator<{ readonly place: string; readonly challenge: Challenge }> {
  for (const service of services) {
    if (service.manifest.price === undefined) continue;
    for (const door of doors) {
      const resource = door(service);
      yield { place: `402 of ${service.manifest.id} at ${resource}`, challenge: challenge(service, resource) };
    }
  }
}
