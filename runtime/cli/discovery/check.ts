import { Problem } from "../../api/problem.ts";
import { withNoun } from "../../api/text.ts";
import { isObject } from "../../core/json.ts";
import { PATHS } from "../../core/paths.ts";
import { HEAD_BYTES } from "../../core/x402/challenge.ts";
import { toIdleLent } from "../set/check.ts";
import { loadSet } from "../set/load.ts";
import { loadPlugins } from "../set/plugins/load.ts";
import { challengesOf, checkChallenge } from "./challenges.ts";
import { checkOpenApi, checkServerCard, checkWellKnown } from "./documents.ts";
import { createFindings, type Finding, type Findings, toFindingLine } from "./findings.ts";
import { probeBurst, probeRoutes } from "./probes.ts";
import { openStage } from "./stage.ts";

/** For the probes of all routes, which directories send over a longer time than the check. */
const UNLIMITED = { unpaid_per_minute: 1_000_000, unpaid_burst: 1_000_000 };

export interface DiscoveryCheckOptions {
  /** The variables that plugins may read. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The public address, without a trailing slash; an example address by default. */
  readonly baseUrl?: string | undefined;
}

/** A host of 40 characters, because its length counts in the size of a 402. */
const SOMEWHERE = "https://the-telephones-at-the-corner.example.com";

/**
 * Serves a set on a loopback port with all its rails up, and checks documents, challenges and probes as directories do.
 * @throws Problem `bad-request` when the set has faults.
 */
export async function checkDiscovery(dir: string, options: DiscoveryCheckOptions = {}): Promise<readonly Finding[]> {
  const { env = {}, baseUrl = SOMEWHERE } = options;
  const set = await loadSet(dir);
  const plugins = await loadPlugins(set, { ...toIdleLent(set), env });
  if (set.faults.length + plugins.faults.length > 0)
    throw new Problem("bad-request", "the set has faults: run payphone check first");
  const findings = createFindings();
  const { site, schemas } = set;
  const limits = { ...site.limits, ...UNLIMITED };
  const stage = await openStage(set, plugins, { baseUrl, limits });
  const { url, services, offers } = stage;
  try {
    findings.at(baseUrl).warn(baseUrl.startsWith("https:"), "directories list https addresses only");
    const rules = { services, names: schemas.keys(), baseUrl };
    checkOpenApi(findings, await readJson(findings, url, PATHS.openApi), rules);
    checkWellKnown(findings, await readJson(findings, url, PATHS.discovery), rules);
    checkWellKnown(findings, await readJson(findings, url, `${PATHS.discovery}.json`), rules);
    checkServerCard(findings, await readJson(findings, url, PATHS.serverCard));
    await checkTexts(
      findings,
      url,
      services.map(({ path }) => baseUrl + path),
    );
    await checkIcons(findings, url);
    const doors = [({ path }: { path: string }) => baseUrl + path, () => baseUrl + PATHS.mcp];
    for (const { place, challenge } of challengesOf(services, offers.challenge, doors))
      checkChallenge(findings, place, challenge, site);
    await probeRoutes(findings, url, services, site.limits.head_bytes ?? HEAD_BYTES);
  } finally {
    await stage.close();
  }
  const limited = await openStage(set, plugins, { baseUrl, limits: site.limits });
  await probeBurst(findings, limited.url, limited.services).finally(limited.close);
  return findings.list;
}

/** One line for each finding, and a last line with the totals. */
export function toDiscoveryReport(found: readonly Finding[]): string {
  const errors = found.filter(({ level }) => level === "error").length;
  const warnings = found.length - errors;
  const total = `discovery: ${withNoun(errors, "error")}, ${withNoun(warnings, "warning")}`;
  return [...found.map(toFindingLine), total].join("\n");
}

async function readJson(findings: Findings, url: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url + path);
  const type = response.headers.get("content-type") ?? "none";
  findings.at(path).expect(response.status === 200, `it must be answered with 200, not ${response.status}`);
  findings.at(path).expect(type.startsWith("application/json"), `its type must be application/json, not ${type}`);
  const value: unknown = await response.json().catch(() => undefined);
  return isObject(value) ? value : {};
}

async function checkTexts(findings: Findings, url: string, services: readonly string[]): Promise<void> {
  const read = async (path: string, accept: string): Promise<string> => {
    const response = await fetch(url + path, { headers: { accept } });
    findings.at(path).expect(response.status === 200, `it must be answered with 200, not ${response.status}`);
    return response.text();
  };
  const list = await read("/llms.txt", "*/*");
  for (const service of services)
    findings.at("/llms.txt").expect(list.includes(service), `it does not name ${service}`);
  await read("/robots.txt", "*/*");
  const page = await read("/", "text/html");
  for (const part of ["<title>", '<meta name="description"', "<a "])
    findings.at("/").expect(page.includes(part), `its page has no ${part}`);
}

async function checkIcons(findings: Findings, url: string): Promise<void> {
  for (const path of ["/favicon.ico", "/icon.png", "/icon.svg"]) {
    const { status, headers } = await fetch(url + path, { method: "HEAD" });
    const type = headers.get("content-type") ?? "none";
    findings
      .at(path)
      .expect(status === 200 && type.startsWith("image/"), `HEAD must get an image, and got ${status}, ${type}`);
  }
}
