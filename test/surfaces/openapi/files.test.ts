import { expect } from "chai";
import { toOpenApi } from "../../../runtime/surfaces/openapi/openapi.ts";
import { BASE_URL, type Loose, showSet } from "../support/fixture-set.ts";

describe("a service of files in /openapi.json", () => {
  it("answers bytes of its media type, and not the JSON that it makes of them", async () => {
    const { set, service } = await showSet();
    const toss = service("toss");
    const media = { type: "image/png", max_bytes: 1024 };
    const services = [{ ...toss, manifest: { ...toss.manifest, media } }];
    const made: Loose = toOpenApi({ services, site: set.site, baseUrl: BASE_URL, schemas: set.schemas });
    for (const { responses } of Object.values<Loose>(made.paths["/v1/toss"]))
      expect(responses["200"].content).to.deep.equal({
        "image/png": { schema: { type: "string", contentMediaType: "image/png", description: "The file." } },
      });
    expect(Object.keys(made.paths["/v1/toss"])).to.have.members(["get", "post"]);
  });
});
