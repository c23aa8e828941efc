import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { site } from "../../support/chains/chains.ts";
import { createFolder } from "../../support/folder.ts";

/** The manifest of a service that does an errand. */
const toManifest = (id: string, more: string): string => `id: ${id}
title: Errand
description: Does something in three steps.
route: POST /v1/${id}
price: "0.001"
handler: errand.run
needs: [ERRAND_LOG]
input:
  type: object
  properties: { what: { type: string }, fail: { type: boolean, default: false }, pause_ms: { type: integer, default: 0 } }
  required: [what]
output: { type: object, properties: { done: { type: string } }, required: [done] }
tags: [errand]
examples: [{ input: { what: x }, output: { done: x } }]
${more}
`;

const JOB = `
job:
  status_route: GET /v1/errand/{job_id}
  eta_seconds: 5
  deadline_seconds: 30
  attempts: 2
  concurrency: 4
  queue_limit: 1000
  refund: true`;

/**
 * The files of the directory: the same work as a job, and as a call that is paid first; it fails where it is told to. And a
 * call that is paid last, each run of which gives something else.
 */
const FILES: Readonly<Record<string, string>> = {
  "manifests/_site.yaml": stringify({
    ...site,
    rails: site.rails.filter(({ id }) => id === "base"),
    upstreams: [],
    refunds: { rail: "base", screen: "look" },
    limits: { ...site.limits, unpaid_per_minute: 60_000, unpaid_burst: 10_000 },
  }),
  "manifests/errand.yaml": toManifest("errand", JOB),
  "manifests/chore.yaml": toManifest("chore", "charge: first"),
  "manifests/look.yaml": `id: look
title: Look
description: Looks a wallet up.
route: POST /v1/look
price: "0.001"
handler: errand.look
input: { type: object, properties: { wallet: { type: string } }, required: [wallet] }
output: { type: object, properties: { sanctions_match: { type: boolean } }, required: [sanctions_match] }
tags: [errand]
examples: [{ input: { wallet: "0x1" }, output: { sanctions_match: false } }]
`,
  "manifests/draw.yaml": `id: draw
title: Draw
description: Draws a number that nobody draws twice.
route: POST /v1/draw
price: "0.001"
handler: errand.draw
input: { type: object, properties: { what: { type: string } }, required: [what] }
output: { type: object, properties: { number: { type: number } }, required: [number] }
tags: [errand]
examples: [{ input: { what: x }, output: { number: 0.5 } }]
`,
  "plugins/errand.ts": `import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { definePlugin, Problem } from "#plugin";

export default definePlugin("errand", ({ env }) => ({
  async run({ what, fail, pause_ms }, call) {
    for (const name of ["one", "two", "three"])
      await call.step(name, async () => {
        appendFileSync(env.ERRAND_LOG, \`\${what} \${name}\\n\`);
        await sleep(pause_ms);
        return name;
      });
    if (fail) throw new Problem("unparseable-input", "There is no such thing");
    return { done: what };
  },
  look: () => ({ sanctions_match: false }),
  draw: () => ({ number: Math.random() }),
}));
`,
};

/** A directory that sells the errands, and the file in which its plugin writes down each step that it does. */
export function openErrands(): { dir: string; log: string } {
  const dir = createFolder();
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  const log = join(dir, "log");
  writeFileSync(log, "");
  return { dir, log };
}
