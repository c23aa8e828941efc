import { expect } from "chai";
import { toNotFoundPage } from "../../runtime/surfaces/pages/not-found.ts";
import { type Door, jsonOf, openDoor, SITE, toService } from "../support/http.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

describe("a path where there is nothing", () => {
  let door: Door;
  before(async () => {
    const notFound = toNotFoundPage({ site: SITE, baseUrl: "https://corner.example.org", isSandbox: false });
    door = await openDoor([toService({ id: "roll", route: "POST /v1/roll", price: "0.001" })], { notFound });
  });
  after(() => door.close({ graceMs: 0 }));

  const ask = (path: string, accept: string, method = "GET"): Promise<Response> =>
    fetch(door.url + path, { method, headers: { accept } });

  it("is a page for browsers, with the same policy as other pages, and nothing of the request in it", async () => {
    const pages = await Promise.all(["/nothing", "/v1/<b>roll</b>?x=<script>"].map((path) => ask(path, BROWSER)));
    for (const page of pages) {
      expect(page.status).to.equal(404);
      expect(page.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      expect(page.headers.get("content-security-policy")).to.match(/script-src 'self'/);
      expect(page.headers.get("cache-control")).to.equal("no-store");
      expect(page.headers.get("vary")).to.equal("Accept");
      expect(page.headers.get("x-request-id")).to.be.a("string");
    }
    const [one, other] = await Promise.all(pages.map((page) => page.text()));
    expect(one).to.equal(other);
    expect(one).to.include('<a class="button" href="/docs">').and.include("There is nothing at this address");
    expect((await ask("/nothing", BROWSER, "HEAD")).headers.get("content-type")).to.equal("text/html; charset=utf-8");
  });

  it("is a problem document for everybody else", async () => {
    for (const accept of ["*/*", "application/json", "application/problem+json", "image/png"]) {
      const response = await ask("/nothing", accept);
      expect(response.status).to.equal(404);
      expect(response.headers.get("content-type"), accept).to.equal("application/problem+json");
      expect(await jsonOf(response)).to.include({ code: "not-found" });
    }
    expect((await ask("/nothing", BROWSER, "POST")).headers.get("content-type")).to.equal("application/problem+json");
  });

  it("names what is there but for a slash or capitals", async () => {
    for (const path of ["/v1/roll/", "/V1/Roll", "//v1/roll//"]) {
      const { detail } = await jsonOf(await ask(path, "*/*", "POST"));
      expect(detail, path).to.equal(`There is nothing at this path; use ${door.url}/v1/roll`);
    }
    expect((await jsonOf(await ask("/v1/rolls/", "*/*"))).detail).to.include("GET / lists what is here");
  });

  it("is no page where there is something that refuses", async () => {
    expect((await ask("/v1/roll", BROWSER, "PUT")).headers.get("content-type")).to.equal("application/problem+json");
    expect((await ask("/v1/roll", BROWSER, "POST")).headers.get("content-type")).to.equal("application/json");
  });

  it("is in the access log as what it is", async () => {
    await ask("/nowhere", BROWSER);
    const line = door.lines.find(({ path }) => path === "/nowhere");
    expect(line).to.include({ status: 404, code: "not-found" });
  });
});
