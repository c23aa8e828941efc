import { expect } from "chai";
import { readFolder } from "../../../runtime/cli/history/folder.ts";
import { createHistory } from "../../../runtime/cli/history/history.ts";
import { compareWithSold, toDiffText } from "../../../runtime/cli/operate/changes.ts";
import { edit, makeDirectory, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { createFolder } from "../../support/folder.ts";

describe("payphone diff, where no process runs,", () => {
  it("compares the folder with the set that was sold last, and tells its faults instead", async () => {
    const dir = await makeDirectory(TOSS);
    const dataDir = createFolder();
    const diff = () => compareWithSold({ dir, config: { dataDir, env: {} } }).then(toDiffText, String);
    expect(await diff()).to.match(/^Problem: Nothing was sold from .* yet: there is nothing to compare with$/);
    const history = createHistory(dataDir);
    const sold = readFolder(dir);
    await history.keep(sold);
    await history.add({ digest: sold.digest, at: new Date().toISOString(), by: "start", what: "start", changes: [] });
    expect(await diff()).to.equal(`nothing to apply: ${sold.digest} is sold`);
    await writeFiles(dir, edit(TOSS, "manifests/toss.yaml", '"0.01"', '"0.01" # a note'));
    const other = readFolder(dir).digest;
    const note = `the folder, ${other}, differs in comments and the like`;
    expect(await diff()).to.equal(`nothing to apply: ${sold.digest} is sold; ${note}`);
    await writeFiles(dir, edit(TOSS, "manifests/toss.yaml", "0.01", "0.02"));
    expect(await diff()).to.match(/^~ toss +\$0\.01 → \$0\.02 \(\+100 %\)$/m);
    await writeFiles(dir, edit(TOSS, "plugins/toss.ts", "toss({ coins })", "flip({ coins })"));
    expect(await diff()).to.match(/^Problem: .*manifests\/toss\.yaml:6:10 unknown-handler /s);
  });
});
