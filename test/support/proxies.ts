import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../run/programs.ts";
import { eventually } from "./eventually.ts";
import { createFolder } from "./folder.ts";
import { findFreePort } from "./free-port.ts";

/** A widely used reverse proxy with its default settings, in front of a loopback port. */
export interface FrontProxy {
  readonly url: string;
  stop(): Promise<void>;
}

interface Recipe {
  readonly args: (file: string, folder: string) => readonly string[];
  /** The least configuration for starting it: its port, its target, and only files within its folder. */
  readonly config: (port: number, target: number, folder: string) => string;
}

const NGINX_FOLDERS = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

const RECIPES = {
  nginx: {
    args: (file, folder) => ["-p", folder, "-c", file],
    config: (port, target, folder) => `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http {
  access_log off;
  ${NGINX_FOLDERS.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${target}; } }
}
`,
  },
  haproxy: {
    args: (file) => ["-db", "-f", file],
    config: (port, target) => `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend all
  bind 127.0.0.1:${port}
  default_backend shop
backend shop
  server shop 127.0.0.1:${target}
`,
  },
  caddy: {
    args: (file) => ["run", "--adapter", "caddyfile", "--config", file],
    config: (port, target) => `{
  admin off
}
http://127.0.0.1:${port} {
  reverse_proxy 127.0.0.1:${target}
}
`,
  },
} as const satisfies Record<string, Recipe>;

export type ProxyName = keyof typeof RECIPES;

export const PROXIES = Object.keys(RECIPES) as ProxyName[];

/** Starts a proxy on a free port. @param target the URL of a server on loopback that answers `/health` */
export async function startProxy(name: ProxyName, target: string): Promise<FrontProxy> {
  const folder = createFolder();
  const port = await findFreePort();
  const file = join(folder, "config");
  const { args, config }: Recipe = RECIPES[name];
  writeFileSync(file, config(port, Number(new URL(target).port), folder));
  const program = findProgram(name) ?? name;
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(program, args(file, folder), { stdio: ["ignore", "ignore", "pipe"], env });
  const gone = once(child, "exit");
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2000);
  });
  const url = `http://127.0.0.1:${port}`;
  const isUp = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`${name} has ended: ${said}`);
    return fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  await eventually(isUp, (up) => up, 50);
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
