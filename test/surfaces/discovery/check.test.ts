import { expect } from "chai";
import { checkChallenge } from "../../../runtime/cli/discovery/challenges.ts";
import { checkDiscovery, toDiscoveryReport } from "../../../runtime/cli/discovery/check.ts";
import { checkOpenApi, checkServerCard, checkWellKnown } from "../../../runtime/cli/discovery/documents.ts";
import { createFindings, toFindingLine } from "../../../runtime/cli/discovery/findings.ts";
import { probeRoutes } from "../../../runtime/cli/discovery/probes.ts";
import { createChallenge } from "../../../runtime/core/x402/challenge.ts";
import { edit, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { openDoor, toChallenge, toService } from "../../support/http.ts";
import { BASE_URL, type Loose, ROOT, type Shown, showSet } from "../support/fixture-set.ts";

describe("payphone check --discovery", () => {
  let shown: Shown;
  before(async () => {
    shown = await showSet();
  });

  it("has nothing to say of this project", async () => {
    expect(toDiscoveryReport(await checkDiscovery(ROOT))).to.equal("discovery: 0 errors, 0 warnings");
  });

  it("has nothing to say of a sound set elsewhere, whose token has two decimals", async () => {
    const files = edit(TOSS, "manifests/_site.yaml", "decimals: 6", "decimals: 2");
    expect(await checkDiscovery(await makeDirectory(files), { baseUrl: "https://toss.example.org" })).to.deep.equal([]);
  });

  it("warns of an address that directories do not list", async () => {
    const found = await checkDiscovery(await makeDirectory(TOSS), { baseUrl: "http://toss.example.org" });
    expect(found.map(toFindingLine)).to.deep.equal([
      "warning: http://toss.example.org: directories list https addresses only",
    ]);
  });

  it("finds a limit that would send directories away", async () => {
    const toFiles = (burst: string) => edit(TOSS, "manifests/_site.yaml", "burst: 300", burst);
    expect(await checkDiscovery(await makeDirectory(toFiles("burst: 150")))).to.deep.equal([]); // Other probes need none.
    const found = await checkDiscovery(await makeDirectory(toFiles("burst: 100")));
    expect(found).to.have.length(1);
    expect(toFindingLine(found[0] as Loose)).to.match(
      /^error: POST \/v1\/toss: \d+ of 150 unpaid requests were rate-limited: raise/,
    );
    expect(toDiscoveryReport(found)).to.match(/\ndiscovery: 1 error, 0 warnings$/);
  });

  it("holds a set to the head that its site names", async () => {
    const files = edit(TOSS, "manifests/_site.yaml", "unpaid_burst: 300", "unpaid_burst: 300\n  head_bytes: 2100");
    const found = await checkDiscovery(await makeDirectory(files));
    expect(found.map(({ place }) => place)).to.deep.equal([
      "402 of toss at https://the-telephones-at-the-corner.example.com/v1/toss",
      "402 of toss at https://the-telephones-at-the-corner.example.com/mcp",
      "POST /v1/toss",
    ]);
    const [atRoute, , ofHead] = found.map(({ message }) => message);
    expect(atRoute).to.equal(
      "its lean form has no bazaar extension: nothing is left of limits.head_bytes (_site.yaml); shorten the " +
        "description, or raise it",
    );
    expect(ofHead).to.match(/^its head has 2\d{3} bytes, and limits.head_bytes \(_site.yaml\) allows 2100: shorten/);
  });

  it("finds a schema that takes a name of the description's own", async () => {
    const named = edit(TOSS, "manifests/toss.yaml", "output: TossResponse", "output: Problem");
    const { "schemas/TossResponse.json": schema = "", ...rest } = named;
    const found = await checkDiscovery(await makeDirectory({ ...rest, "schemas/Problem.json": schema }));
    expect(found.map(({ message }) => message)).to.include(
      "schemas/Problem.json must have another name: the description has a Problem of its own",
    );
  });

  it("looks at no set that has faults", async () => {
    const files = edit(TOSS, "manifests/toss.yaml", 'price: "0.01"', 'price: "0"');
    const failure = await checkDiscovery(await makeDirectory(files)).catch((error: Error) => error.message);
    expect(failure).to.equal("the set has faults: run payphone check first");
  });

  describe("of a challenge", () => {
    const found = (change: (required: Loose) => void): string[] => {
      const service = shown.service("toss");
      const required: Loose = structuredClone(shown.offers.challenge(service, BASE_URL + service.path).required);
      change(required);
      const findings = createFindings();
      const { site } = shown.set;
      checkChallenge(findings, "402", createChallenge(required, site.rails, required), site);
      return findings.list.map(toFindingLine);
    };

    it("takes a sound one", () => {
      expect(found(() => {})).to.deep.equal([]);
    });

    it("finds what facilitators refuse or drop", () => {
      const cases: readonly [change: (required: Loose) => void, message: RegExp][] = [
        [({ resource }) => Object.assign(resource, { description: "x".repeat(451) }), /451 characters; beyond 450/],
        [({ resource }) => Object.assign(resource, { serviceName: "é" }), /"é" must be at most 32 printable ASCII/],
        [({ resource }) => Object.assign(resource, { serviceName: "x".repeat(33) }), /must be at most 32 printable/],
        [
          ({ resource }) => Object.assign(resource, { tags: ["a", "b", "c", "d", "e", "f"] }),
          /6 tags; directories keep 5/,
        ],
        [({ resource }) => Object.assign(resource, { tags: ["x".repeat(33)] }), /the tag "x+" must be at most 32/],
        [({ resource }) => Object.assign(resource, { iconUrl: "http://x/icon.png" }), /icon must be https/],
        [
          ({ accepts }) => Object.assign(accepts[0], { amount: "999" }),
          /costs 0.000999 USDC; facilitators settle no less/,
        ],
        [
          ({ extensions }) => Object.assign(extensions.bazaar.info.input.body, { label: "é→" }),
          /: "→" is beyond Latin-1/,
        ],
      ];
      for (const [change, message] of cases) {
        const lines = found(change);
        expect(lines, String(message)).to.have.length(1);
        expect(lines[0]).to.match(message);
      }
    });

    it("finds what is wrong with the directory entry, in the body and in the header", () => {
      const cases: readonly [change: (required: Loose) => void, message: RegExp][] = [
        [(required) => delete required.extensions, /^error: 402: its (body|lean form) has no bazaar/],
        [
          ({ extensions }) => Object.assign(extensions.bazaar.info.input, { method: "PUT" }),
          /in its (body|lean form) does not fit its own schema/,
        ],
        [
          ({ extensions }) => Object.assign(extensions.bazaar.schema, { $ref: "https://x/y.json" }),
          /in its (body|lean form) refers to something outside/,
        ],
      ];
      for (const [change, message] of cases) {
        const lines = found(change);
        expect(lines, String(message)).to.have.length(2);
        for (const line of lines) expect(line).to.match(message);
      }
    });
  });

  describe("of a document", () => {
    const rules = () => ({ services: shown.services, names: shown.set.schemas.keys(), baseUrl: BASE_URL });
    const found = (path: string, change: (document: Loose) => void): string[] => {
      const document = shown.json(path);
      change(document);
      const findings = createFindings();
      if (path === "/openapi.json") checkOpenApi(findings, document, rules());
      else if (path === "/.well-known/x402") checkWellKnown(findings, document, rules());
      else checkServerCard(findings, document);
      return findings.list.map(toFindingLine);
    };
    const cases: Record<string, readonly [change: (document: Loose) => void, message: RegExp][]> = {
      "/openapi.json": [
        [(api) => Object.assign(api, { openapi: "3.0.3" }), /must be OpenAPI 3.1/],
        [(api) => delete api.info.contact, /info.contact is missing/],
        [(api) => Object.assign(api.info, { "x-guidance": "x".repeat(4001) }), /x-guidance must have 1 to 4000/],
        [(api) => Object.assign(api, { servers: [{ url: "https://x" }] }), /servers\[0\].url must be https:\/\/corner/],
        [(api) => delete api.paths["/v1/toss"].post["x-payment-info"], /x-payment-info must say 0.01 USD/],
        [
          (api) => Object.assign(api.paths["/v1/toss"].post["x-payment-info"].price, { amount: "0.01" }),
          /six decimals/,
        ],
        [(api) => delete api.paths["/v1/toss"].post.responses["402"], /has no 402 response/],
        [(api) => delete api.paths["/v1/toss"].post.responses["200"].content, /no schema of its 200 answer/],
        [(api) => delete api.paths["/v1/toss"].post.requestBody, /no schema of its input/],
        [(api) => delete api.paths["/v1/toss"].post.security, /security must be an empty list/],
        [
          ({ paths: { "/v1/toss": toss } }) =>
            Object.assign(toss.get, { "x-payment-info": toss.post["x-payment-info"] }),
          /GET \/v1\/toss: it is another form of a listed service, and must have no x-payment-info/,
        ],
        [
          (api) => delete api.paths["/v1/toss"].get.responses["200"].content["application/json"].examples,
          /^warning: .*GET \/v1\/toss: it has no example of its 200 answer: give one an `output`/,
        ],
        [(api) => delete api.paths["/v1/toss"].get.parameters, /GET \/v1\/toss: it has no schema of its input/],
        [
          (api) => Object.assign(api.paths["/v1/toss"].get, { operationId: "toss" }),
          /operationId must be unique: toss stands there twice/,
        ],
        [
          (api) => Object.assign(api.paths["/v1/tables/{name}"].get, { "x-payment-info": {} }),
          /it is free, and must have no/,
        ],
      ],
      "/.well-known/x402": [
        [(document) => Object.assign(document, { x402Version: 1 }), /x402Version must be 2/],
        [(document) => document.resources.pop(), /resources must be the URLs of all paid services/],
      ],
      "/.well-known/mcp/server-card.json": [
        [(card) => Object.assign(card, { name: "payphone" }), /name must be reverse DNS/],
        [(card) => Object.assign(card, { description: "x".repeat(101) }), /description must have 1 to 100/],
        [(card) => Object.assign(card, { version: "latest" }), /version must be three numbers/],
        [(card) => Object.assign(card, { remotes: [] }), /remotes must name the streamable HTTP endpoint/],
      ],
    };
    for (const [path, changes] of Object.entries(cases)) {
      it(`finds what is missing in ${path}`, () => {
        expect(found(path, () => {})).to.deep.equal([]);
        for (const [change, message] of changes) {
          const lines = found(path, change);
          expect(lines, String(message)).to.have.length(1);
          expect(lines[0]).to.match(message);
        }
      });
    }
  });

  describe("of a route", () => {
    const probe = async (header: string): Promise<string[]> => {
      const service = toService({ id: "roll", route: "POST /v1/roll", price: "0.001" });
      const challenge = () => ({ ...toChallenge("https://x/v1/roll"), header });
      const door = await openDoor([service], { challenge });
      const findings = createFindings();
      await probeRoutes(findings, door.url, [service], 6600);
      await door.close({ graceMs: 0 });
      return findings.list.map(toFindingLine);
    };

    it("takes a 402 with its challenge, and 405 for every other method", async () => {
      expect(await probe("x".repeat(5990))).to.deep.equal([]);
    });

    it("finds a head that proxies do not take, and says how to make it smaller", async () => {
      const lines = await probe("x".repeat(6100));
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(
        /^error: POST \/v1\/roll: its head has 6[67]\d\d bytes, and limits.head_bytes \(_site.yaml\) allows 6600: shorten/,
      );
    });

    it("finds headers that clients do not take", async () => {
      const lines = await probe("x".repeat(17_000));
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(/^error: POST \/v1\/roll: a bare probe fails \(Headers Overflow Error\)/);
    });

    it("finds a route that answers otherwise", async () => {
      const door = await openDoor([]);
      const findings = createFindings();
      await probeRoutes(findings, door.url, [toService({ id: "roll", route: "GET /v1/roll", price: "0.001" })], 3900);
      await door.close({ graceMs: 0 });
      expect(findings.list.map(toFindingLine)).to.include(
        "error: GET /v1/roll: a bare probe must get 402, and got 404",
      );
      expect(findings.list.map(toFindingLine)).to.include(
        "error: PUT /v1/roll: a bare probe must get 405, and got 404",
      );
    });
  });
});
