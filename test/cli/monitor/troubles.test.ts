import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { readFolder } from "../../../runtime/cli/history/folder.ts";
import { createFolderCheck } from "../../../runtime/cli/monitor/folder-check.ts";
import { findStuck } from "../../../runtime/cli/monitor/troubles.ts";
import { makeDirectory, removeDirectories, TOSS } from "../../core/set/served-directory.ts";

const MINUTE_MS = 60_000;

describe("what wants the seller", () => {
  after(removeDirectories);

  it("is a folder that holds something else than what is sold", async () => {
    const home = await makeDirectory(TOSS);
    let [now, digest] = [0, readFolder(home).digest];
    const check = createFolderCheck({ home, digest: () => digest, now: () => now });
    expect(check()).to.deep.equal([]);
    await mkdir(join(home, "manifests"), { recursive: true });
    await writeFile(join(home, "manifests/broken.yaml"), "id: [");
    now += MINUTE_MS;
    expect(check()[0]).to.include({ mend: "payphone diff" });
    digest = readFolder(home).digest;
    expect(check()).to.deep.equal([]);
  });

  it("is a job that should have been over, and none that has its time", () => {
    const job = { attempts: 3, deadline_seconds: 900 } as never;
    const services = [
      { manifest: { id: "report", job } },
      { manifest: { id: "quick", job: { attempts: 1, deadline_seconds: 5 } as never } },
    ];
    const find = (service: string, minutes: number) =>
      findStuck([{ id: "job-1", service, at: 0 }], services, minutes * MINUTE_MS);
    expect(find("report", 90)).to.deep.equal([]);
    expect(find("report", 91)[0]?.what).to.include("job-1").and.to.include("91 minutes");
    expect(find("quick", 9)).to.deep.equal([]);
    expect(find("quick", 11)).to.have.length(1);
  });
});
