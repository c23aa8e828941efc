import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Agent, fetch as fetchThrough } from "undici";
import { loadSet } from "../../runtime/cli/set/load.ts";
import { makeDirectory, ROOT } from "../core/set/served-directory.ts";
import { balanceOf, toShop } from "../rails/shop.ts";
import { findProgram } from "../run/programs.ts";
import { sharedSandbox, type TestSandbox } from "../support/chains/chains.ts";
import { eventually } from "../support/eventually.ts";
import { createFolder } from "../support/folder.ts";
import { findFreePort } from "../support/free-port.ts";
import { withProgram } from "../support/programs.ts";
import { type LocalSeller, startLocalSeller } from "../support/sellers/local-seller.ts";
import { json, receiptOf, stockFetch } from "../support/sellers/stock-buyer.ts";

const read = (name: string): string => readFileSync(join(ROOT, "runtime/deploy", name), "utf8");
const replaceAll = (text: string, changes: Readonly<Record<string, string>>): string =>
  Object.entries(changes).reduce((done, [from, to]) => {
    expect(done, from).to.include(from);
    return done.replaceAll(from, to);
  }, text);

const itWithSystemd = findProgram("systemd-analyze") ? it : it.skip;

/** How exposed a service may be by `systemd-analyze security`, in tenths. */
const MOST_EXPOSED = 20;

describe("the unit for systemd", () => {
  let folder: string;
  let unit: string;
  before(() => {
    folder = createFolder();
    unit = join(folder, "payphone.service");
    const launcher = join(ROOT, "runtime/cli/payphone.js");
    writeFileSync(unit, replaceAll(read("payphone.service"), { "/srv/shop/node_modules/.bin/payphone": launcher }));
  });

  itWithSystemd("has no fault", () => {
    const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", unit], { encoding: "utf8" });
    expect(status, stdout + stderr).to.equal(0);
    expect(stderr).not.to.include("payphone.service:");
  });

  itWithSystemd("leaves the service little that it could harm", () => {
    const args = ["security", "--offline=true", "--no-pager", `--threshold=${MOST_EXPOSED}`, unit];
    const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
    expect(status, (stdout + stderr).slice(-300)).to.equal(0);
  });

  it("starts a command that there is, and lets it end as operations.md says", () => {
    const text = read("payphone.service");
    const [, flags = ""] = /^ExecStart=\S+ (.*)$/m.exec(text) ?? [];
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(ROOT, "runtime/cli/payphone.js"), ...flags.split(" "), "--help"],
      { encoding: "utf8" },
    );
    expect(status).to.equal(0);
    expect(stdout).to.include("--workers");
    expect(text).to.match(/^KillMode=mixed$/m);
  });
});

/** A service that works until its caller has left. */
const WAIT = {
  "manifests/wait.yaml": `id: wait
title: Wait
description: Waits.
route: POST /v1/wait
price: "0.01"
handler: wait.wait
deadline_seconds: 120
input: { type: object }
output: { type: object }
tags: [test]
examples: [{ input: {} }]
`,
  "plugins/wait.ts": `import { definePlugin } from "#plugin";

export default definePlugin("wait", ({ log }) => ({
  wait: (_input, { signal }) =>
    new Promise((_resolve, reject) => {
      log.warn("wait.begun");
      signal.addEventListener("abort", () => {
        log.warn("wait.left");
        reject(signal.reason);
      });
    }),
}));
`,
};

describe("the sites for proxies", () => {
  let sandbox: TestSandbox;
  let seller: LocalSeller;
  let folder: string;
  let proxy: ChildProcess | undefined;
  const agent = new Agent({ connect: { rejectUnauthorized: false } });

  before(async () => {
    sandbox = await sharedSandbox();
    const set = await loadSet(await makeDirectory({ ...toShop([]), ...WAIT }));
    seller = await startLocalSeller({ sandbox, set, env: { TRUST_PROXY: "1" } });
  });
  beforeEach(() => {
    folder = createFolder();
  });
  afterEach(async () => {
    if (proxy?.exitCode === null) {
      const gone = once(proxy, "exit");
      proxy.kill("SIGKILL");
      await gone;
    }
  });
  after(async () => {
    await seller.stop();
    await agent.close();
  });

  const said = (event: string): number => seller.output().split(event).length - 1;

  /** Starts a proxy, buys through it, and leaves a call that then is not charged. */
  async function sellThrough(program: string, args: readonly string[], url: string): Promise<void> {
    const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    proxy = spawn(findProgram(program) ?? program, args, { stdio: ["ignore", "ignore", "pipe"], env });
    let complaint = "";
    proxy.stderr?.on("data", (chunk: Buffer) => {
      complaint = `${complaint}${chunk}`.slice(-1500);
    });
    /** With a signal of its own: a request's stops following when the request is collected as garbage. */
    const through = (signal?: AbortSignal): typeof fetch =>
      (async (input: string | URL | Request, init?: RequestInit) => {
        const request = new Request(input, init);
        const body = request.body ? { body: await request.text() } : {};
        const { method, headers } = request;
        return fetchThrough(request.url, {
          method,
          ...(signal && { signal }),
          headers: [...headers],
          ...body,
          dispatcher: agent,
        });
      }) as unknown as typeof fetch;
    await eventually(() =>
      through(AbortSignal.timeout(10_000))(`${url}/health`).then(
        ({ ok }) => ok,
        () => {
          if (proxy?.exitCode !== null) throw new Error(`${program} has ended: ${complaint}`);
          return false;
        },
      ),
    );
    const unpaid = await through()(`${url}/v1/toss`, json({}));
    expect(unpaid.status).to.equal(402);
    const pay = await stockFetch(sandbox, "base", through());
    const response = await pay(`${url}/v1/toss`, json({ coins: 2 }));
    expect(response.status).to.equal(200);
    expect(receiptOf(response)).to.include({ success: true });

    const { buyer, rpc, tokens } = sandbox.description;
    const held = (): Promise<bigint> => balanceOf(rpc.base!, tokens.base!, buyer.evm.address);
    const [before, begun, left] = [await held(), said("wait.begun"), said("wait.left")];
    const leaving = new AbortController();
    const payAndLeave = await stockFetch(sandbox, "base", through(leaving.signal));
    const waiting = payAndLeave(`${url}/v1/wait`, json({})).catch(() => {});
    await eventually(() => said("wait.begun") > begun);
    leaving.abort();
    await waiting;
    await eventually(() => said("wait.left") > left);
    expect(await held()).to.equal(before);
  }

  withProgram("nginx").it(
    "nginx.conf sells over TLS, also beside a stopped process, and tells of callers who leave",
    async () => {
      const [port, plain] = [await findFreePort(), await findFreePort()];
      const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
      const subject = ["-subj", "/CN=127.0.0.1", "-days", "2", "-nodes", "-newkey", "rsa:2048"];
      execFileSync("openssl", ["req", "-x509", ...subject, "-out", cert, "-keyout", key], { stdio: "ignore" });
      const { host } = new URL(seller.url);
      const stopped = await findFreePort();
      const site = replaceAll(read("nginx.conf"), {
        "127.0.0.1:4021 max_fails=0;": `127.0.0.1:${stopped} max_fails=0; server ${host} max_fails=0;`,
        "listen 443 ssl": `listen 127.0.0.1:${port} ssl`,
        "listen 80": `listen 127.0.0.1:${plain}`,
        "/etc/ssl/pay.example.com.pem": cert,
        "/etc/ssl/pay.example.com.key": key,
      });
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
      const folders = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
      writeFileSync(join(folder, "site.conf"), site);
      writeFileSync(
        join(folder, "nginx.conf"),
        `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}
http { access_log off; ${folders} include ${folder}/site.conf; }`,
      );
      const args = ["-p", folder, "-c", join(folder, "nginx.conf")];
      const { status, stderr } = spawnSync(findProgram("nginx") ?? "nginx", ["-t", ...args], { encoding: "utf8" });
      expect(status, stderr).to.equal(0);
      await sellThrough("nginx", args, `https://127.0.0.1:${port}`);
      const large = { method: "POST", body: "x".repeat(1_200_000), dispatcher: agent };
      expect((await fetchThrough(`https://127.0.0.1:${port}/v1/toss`, large)).status).to.equal(413);
      const redirected = await fetch(`http://127.0.0.1:${plain}/docs`, {
        headers: { host: "pay.example.com" },
        redirect: "manual",
      });
      expect(redirected.status).to.equal(301);
      expect(redirected.headers.get("location")).to.match(/^https:\/\/.*\/docs$/);
    },
  );

  withProgram("caddy").it("Caddyfile sells over TLS, and tells of callers who leave", async () => {
    const port = await findFreePort();
    const site = replaceAll(read("Caddyfile"), {
      "127.0.0.1:4021": new URL(seller.url).host,
      "pay.example.com {": `https://127.0.0.1:${port} {\n\ttls internal`,
    });
    const file = join(folder, "Caddyfile");
    writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n${site}`);
    const args = ["adapt", "--adapter", "caddyfile", "--config", file];
    const adapted = execFileSync(findProgram("caddy") ?? "caddy", args, { encoding: "utf8", stdio: "pipe" });
    const [, idleNs] = /"keep_alive":\{"idle_timeout":(\d+)\}/.exec(adapted) ?? [];
    // payphone closes idle connections after 65 seconds: a POST that Caddy sends at that moment would be lost (502).
    expect(Number(idleNs) / 1e9).to.be.at.most(60);
    await sellThrough("caddy", ["run", "--adapter", "caddyfile", "--config", file], `https://127.0.0.1:${port}`);
  });
});
