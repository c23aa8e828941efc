import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import { createReportShelf, type PublishedReport, type ReportShelf } from "../../runtime/core/jobs/reports.ts";
import type { Store } from "../../runtime/core/store.ts";
import { openSqliteStore } from "../../runtime/drivers/store/sqlite/sqlite.ts";
import { problemOf } from "../plugins/host.ts";
import { createFolder } from "../support/folder.ts";
import { type Door, openDoor, speak } from "../support/http.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";

const DAY_MS = 86_400_000;
const MARKDOWN = { name: "report.md", type: "text/markdown; charset=utf-8", body: "# Größe 📈\n" };

describe("a published report", () => {
  let now: number;
  let store: ReturnType<typeof createMemoryStore>;
  let shelf: ReportShelf;
  let door: Door;
  beforeEach(async () => {
    now = Date.now();
    store = createMemoryStore(() => now);
    // The shelf needs the address of the door, and the door the shelf.
    door = await openDoor([], { reports: { find: (folder, name) => shelf.find(folder, name) } });
    shelf = createReportShelf({ store, baseUrl: door.url });
  });
  afterEach(() => door.close({ graceMs: 0 }));

  it("is read byte by byte as it was published, by whoever has its address", async () => {
    const response = await fetch(await shelf.publish(MARKDOWN));
    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.equal("text/markdown; charset=utf-8");
    expect(response.headers.get("content-length")).to.equal(String(Buffer.byteLength(MARKDOWN.body)));
    expect(response.headers.get("access-control-allow-origin")).to.equal("*");
    expect(await response.text()).to.equal(MARKDOWN.body);
  });

  it("is whole where it is long, whatever character stands where it was divided", async () => {
    const body = `x${"📈".repeat(700_000)}`;
    const url = await shelf.publish({ ...MARKDOWN, body });
    expect(await (await fetch(url)).text()).to.equal(body);
    const longest = Math.max(...[...store.entries.values()].map((entry) => JSON.stringify(entry).length));
    expect(longest).to.be.below(600_000);
  });

  it("is read from the store once for all who read it slowly at the same time", async () => {
    const url = new URL(await shelf.publish({ ...MARKDOWN, body: "x".repeat(24 * 1024 * 1024) }));
    let reads = 0;
    const kept = shelf;
    const count = (report: PublishedReport): PublishedReport => {
      const read = (): Promise<string | undefined> => {
        reads += 1;
        return report.read();
      };
      return { ...report, read };
    };
    shelf = {
      ...kept,
      find: async (folder, name) => {
        const report = await kept.find(folder, name);
        return report && count(report);
      },
    };
    const sockets = [];
    for (let reader = 0; reader < 3; reader += 1) {
      const socket = connect(Number(url.port), "127.0.0.1");
      sockets.push(socket);
      socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await once(socket, "readable"); // It is answered, and reads no further.
    }
    for (const socket of sockets) socket.destroy();
    expect(reads).to.equal(1);
  });

  it("may be empty", async () => {
    const response = await fetch(await shelf.publish({ ...MARKDOWN, body: "" }));
    expect([response.status, await response.text()]).to.deep.equal([200, ""]);
  });

  it("has an address that nobody can guess, even beside another of its name", async () => {
    const urls = await Promise.all(Array.from({ length: 50 }, () => shelf.publish(MARKDOWN)));
    expect(new Set(urls).size).to.equal(50);
    for (const url of urls) expect(url).to.match(new RegExp(`^${door.url}/reports/[0-9a-f]{32}/report\\.md$`));
  });

  it("is kept by browsers for good, by no cache between, and by no search engine", async () => {
    const { headers } = await fetch(await shelf.publish(MARKDOWN));
    expect(headers.get("cache-control")).to.equal("private, max-age=7776000, immutable");
    expect(headers.get("x-robots-tag")).to.equal("noindex");
  });

  it("is not sent, nor read, for those who have it", async () => {
    const url = await shelf.publish(MARKDOWN);
    const etag = (await fetch(url)).headers.get("etag") as string;
    for (const key of store.entries.keys()) if (key.startsWith("report-piece:")) store.entries.delete(key);
    const response = await fetch(url, { headers: { "if-none-match": `"other", W/${etag}` } });
    expect(response.status).to.equal(304);
    expect(response.headers.get("etag")).to.equal(etag);
    const head = await fetch(url, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).to.deep.equal([
      200,
      String(Buffer.byteLength(MARKDOWN.body)),
    ]);
    expect((await fetch(url)).status, "a body whose time is over").to.equal(404);
  });

  it("runs one script of ours at most, loads nothing from elsewhere, and is in no frame, where it is a page", async () => {
    const { headers } = await fetch(
      await shelf.publish({ name: "report.html", type: "text/html; charset=utf-8", body: "<p>" }),
    );
    const policy = headers.get("content-security-policy")?.split("; ");
    expect(policy).to.include.members(["default-src 'none'", "img-src 'self' data:", "frame-ancestors 'none'"]);
    expect(policy?.filter((rule) => rule.startsWith("script-src"))).to.deep.equal([
      `script-src ${door.url}/docs/copy.js`,
    ]);
    expect(headers.get("x-content-type-options")).to.equal("nosniff");
  });

  it("is saved, where it is a table", async () => {
    const csv = await fetch(await shelf.publish({ name: "ledger.csv", type: "text/csv; charset=utf-8", body: "a,b" }));
    expect(csv.headers.get("content-disposition")).to.equal('attachment; filename="ledger.csv"');
    expect((await fetch(await shelf.publish(MARKDOWN))).headers.get("content-disposition")).to.equal(null);
  });

  it("is only read", async () => {
    const url = await shelf.publish(MARKDOWN);
    const refused = await fetch(url, { method: "PUT", body: "x" });
    expect([refused.status, refused.headers.get("allow")]).to.deep.equal([405, "GET, HEAD, OPTIONS"]);
    expect(await (await fetch(url)).text()).to.equal(MARKDOWN.body);
  });

  it("is the only thing that there is: nothing lists it, and nothing near its address is found", async () => {
    const url = new URL(await shelf.publish(MARKDOWN));
    const [, , folder = ""] = url.pathname.split("/");
    await store.set("report:x:y", { type: "text/plain", bytes: 1, sha256: "", pieces: 0 });
    const near = [
      "/reports",
      "/reports/",
      `/reports/${folder}`,
      `/reports/${folder}/`,
      `${url.pathname}/`,
      `/reports/${folder.toUpperCase()}x/report.md`,
      `/reports/${"0".repeat(32)}/report.md`,
      `/reports/${folder}/report.MD`,
      `/reports/${folder}/report%2emd%00`,
      `/reports/${folder}/..%2freport.md`,
      "/reports/x/y",
      `/reports/x:${"y".repeat(600)}/z`,
      `/reports/${folder}:report.md/x`,
    ];
    const port = Number(url.port);
    for (const path of near)
      expect(await speak(port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`), path).to.match(
        /^HTTP\/1\.1 404 /,
      );
  });

  it("is there for 90 days", async () => {
    const url = await shelf.publish(MARKDOWN);
    now += 90 * DAY_MS - 1000;
    expect((await fetch(url)).status).to.equal(200);
    now += 2000;
    const gone = await fetch(url);
    expect(gone.status).to.equal(404);
    expect(((await gone.json()) as { detail: string }).detail).to.match(/kept for 90 days/);
  });

  it("is refused whole where it is too large, and nothing of it is kept", async () => {
    const body = "é".repeat(16 * 1024 * 1024 + 1);
    const { code, message } = await problemOf(shelf.publish({ ...MARKDOWN, body }));
    expect(code).to.equal("payload-too-large");
    expect(message).to.match(/report\.md would have 33554434 bytes, more than the 33554432/);
    expect(store.entries.size).to.equal(0);
  });

  it("has a name and a type that fit into an address and a header", async () => {
    const wrong = [{ name: "a/b" }, { name: ".." }, { name: "" }, { name: 'a"b' }, { type: "text/html\r\nX: y" }];
    for (const change of wrong) {
      const error = await shelf.publish({ ...MARKDOWN, ...change }).catch((thrown: unknown) => thrown);
      expect(error, JSON.stringify(change)).to.be.instanceOf(TypeError);
    }
  });

  it("is not said to be gone while the store cannot be asked", async () => {
    const url = await shelf.publish(MARKDOWN);
    const away: Store = { ...store, get: () => Promise.reject(new Problem("unavailable", "The store is away")) };
    shelf = createReportShelf({ store: away, baseUrl: door.url });
    expect((await fetch(url)).status).to.equal(503);
  });

  it("is published by one process and read by another", async () => {
    const folder = createFolder();
    const [one, other] = await Promise.all([1, 2].map(() => openSqliteStore({ file: join(folder, "store.sqlite") })));
    try {
      shelf = createReportShelf({ store: other as Store, baseUrl: door.url });
      const body = "row\n".repeat(200_000);
      const url = await createReportShelf({ store: one as Store, baseUrl: door.url }).publish({ ...MARKDOWN, body });
      expect(await (await fetch(url)).text()).to.equal(body);
    } finally {
      await Promise.all([one?.close(), other?.close()]);
    }
  });
});
