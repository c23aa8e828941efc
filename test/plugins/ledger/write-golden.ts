import { writeFileSync } from "node:fs";
import { join } from "node:path";
import nock from "nock";
import { GOLDEN, make, withoutLook } from "./report-stage.ts";

nock.activate();
nock.disableNetConnect();
const { files } = await make();
for (const [name, body] of files) writeFileSync(join(GOLDEN, `${name}.golden`), withoutLook(body));
