import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { checkDir, toIdleLent } from "../../../runtime/cli/set/check.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { loadPlugins } from "../../../runtime/cli/set/plugins/load.ts";
import { PATHS } from "../../../runtime/core/paths.ts";
import { readValidInput } from "../../../runtime/core/perform.ts";
import { bindServices, type Service } from "../../../runtime/core/service.ts";
import { FAULT_CODES } from "../../../runtime/core/set/faults.ts";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { toCall } from "../../support/sellers/call.ts";
import { compilePlugins } from "./compile-plugins.ts";
import { type Files, makeDirectory, ROOT, readFilesOf, TOSS } from "./served-directory.ts";

const SITE = { "manifests/_site.yaml": TOSS["manifests/_site.yaml"] as string };
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** The first cells of a README's tables under a heading. */
function rowsOf(readme: string, heading: string): string[] {
  const [, section = ""] = read(readme).split(`${heading}\n`);
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = ""]) => cell);
}

async function openService(files: Files, env: Record<string, string> = {}): Promise<Service> {
  const set = await loadSet(await makeDirectory({ ...SITE, ...files }));
  const { handlers } = await loadPlugins(set, { ...toIdleLent(set), env });
  return bindServices(set.manifests, { site: set.site, compile: set.compile, handlers })[0] as Service;
}

async function call(service: Service, input: unknown): Promise<unknown> {
  const checked = await readValidInput(service, { input: async () => ({ value: input, from: "body" }) });
  const { handler } = service;
  const run = typeof handler === "function" ? handler : handler.run;
  return run(checked as never, toCall());
}

const codeOf = (error: unknown): string => (error instanceof Problem ? error.code : String(error));

describe("the README for operators", () => {
  let files: Files;

  before(async () => {
    files = await readFilesOf("manifests/README.md");
  });

  it("has an example that is a sound service and answers", async () => {
    expect(await checkDir(await makeDirectory({ ...SITE, ...files }))).to.deep.equal([]);
    const service = await openService(files);
    expect(service.routes).to.deep.equal([{ method: "POST", path: "/v1/toss" }]);
    const { sides } = (await call(service, { coins: 40 })) as { sides: string[] };
    expect(sides).to.have.length(40);
    expect(service.output.check({ sides }, "body").issues).to.deep.equal([]);
  });

  it("has the limits of each key, as the check of manifests has them", () => {
    const lineOf = (key: string): string =>
      read("manifests/README.md")
        .split("\n")
        .find((line) => line.startsWith(`| \`${key}\``)) ?? "";
    expect(lineOf("job.attempts")).to.match(/ From 1 to 20\. \|$/);
    expect(lineOf("limits.offer_seconds")).to.match(/ From 60 to 3600\. \|$/);
    expect(lineOf("category")).to.match(/ At most 32 characters\. \|$/);
  });

  it("names every path that is not for sale", () => {
    const text = read("manifests/README.md");
    const paths = Object.values(PATHS).filter((path) => !path.startsWith("/.well-known/"));
    for (const path of [...paths, "/.well-known/", "/sandbox/"]) expect(text).to.include(`\`${path}\``);
  });

  it("explains every code of a fault, and no other (if not: npm run types)", () => {
    expect(rowsOf("manifests/README.md", "## The codes of faults")).to.deep.equal(Object.keys(FAULT_CODES));
  });
});

describe("the README for authors", () => {
  let files: Files;
  let source: Server;
  let env: { WEATHER_URL: string };

  before(async () => {
    files = await readFilesOf("plugins/README.md");
    source = createServer(({ url = "" }, response) => {
      if (url.includes("Atlantis")) response.writeHead(500).end();
      else response.end(JSON.stringify({ celsius: 20 }));
    });
    env = { WEATHER_URL: `${await listenOnLoopback(source)}/now` };
  });
  after(() => source.close());

  it("has an example that is sound and compiles with the tsconfig that it shows", async () => {
    expect(await checkDir(await makeDirectory({ ...SITE, ...files }))).to.deep.equal([]);
    expect(await compilePlugins({ ...SITE, ...files })).to.equal("");
  });

  it("has an example that reads its source, and fails as described", async () => {
    const weather = await openService(files, env);
    expect(await call(weather, { city: "Kyoto" })).to.deep.equal({ city: "Kyoto", degrees: 20, unit: "C" });
    expect(await call(weather, { city: "Kyoto", unit: "F" })).to.deep.include({ degrees: 68 });
    expect(await call(weather, { city: "Atlantis" }).catch(codeOf)).to.equal("upstream-failed");
    expect(await call(weather, { city: " " }).catch(codeOf)).to.equal("invalid-input");
    expect(await call(await openService(files), { city: "Kyoto" }).catch(codeOf)).to.equal("unavailable");
  });

  it("does not compile when its output lacks a field, or reads one that is not there", async () => {
    const plugin = files["plugins/weather.ts"] as string;
    const lacking = plugin.replace("return { city, degrees:", "return { degrees:");
    expect(await compilePlugins({ ...SITE, ...files, "plugins/weather.ts": lacking })).to.match(
      /^plugins\/weather\.ts\(.*Property 'city' is missing in type/s,
    );
    const asking = plugin.replace("async run({ city, unit }", "async run({ town: city, unit }");
    expect(await compilePlugins({ ...SITE, ...files, "plugins/weather.ts": asking })).to.match(
      /^plugins\/weather\.ts\(.*Property 'town' does not exist on type 'WeatherRequest'/,
    );
  });

  it("names everything that the host lends, and nothing else", async () => {
    const { host } = toIdleLent(await loadSet(await makeDirectory(SITE)));
    const own = ["cache", "env", "upstream"];
    expect(rowsOf("plugins/README.md", "| The host lends | |")).to.deep.equal([...Object.keys(host), ...own].sort());
  });
});
