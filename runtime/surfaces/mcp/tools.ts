import { Problem } from "../../api/problem.ts";
import type { Invoke } from "../../core/invoke.ts";
import { toFile } from "../../core/proxy/media.ts";
import type { Service } from "../../core/service.ts";
import { didYouMean } from "../../core/set/did-you-mean.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import type { Challenge } from "../../core/x402/challenge.ts";
import { MCP_KEYS } from "../../core/x402/mcp-keys.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import { checkMessageBytes, toProblemDocument } from "../rpc/door.ts";
import { RPC_CODES } from "../rpc/json-rpc.ts";
import { createSchemaInliner } from "../schema/self-contained.ts";
import type { ToolCall, Tools } from "./methods.ts";
import { type Sold, toBlocks, toChallengeResult, toPaidResult, toVersion1Result } from "./payment.ts";
import { protocolError } from "./request.ts";
import { toTool } from "./tool.ts";
import type { McpVersion } from "./versions.ts";

export interface ServiceToolsOptions {
  /** The services that are listed. */
  readonly services: readonly Service[];
  /** The services that can be called, retired ones included. Default: `services`. */
  readonly routed?: readonly Service[];
  /** The set's schemas by name, for the `$ref`s between them. */
  readonly schemas: ReadonlyMap<string, object>;
  readonly invoke: Invoke;
  readonly site: Pick<SiteManifest, "rails">;
  /** The URL of the MCP endpoint: the resource that is paid for. */
  readonly endpoint: string;
}

/** Every service as a tool. Payments are taken here on the networks of dollar rails; of all rails where none is one. */
export function createServiceTools(options: ServiceToolsOptions): Tools {
  const { services, routed = services, schemas, invoke, site, endpoint } = options;
  const byName = new Map(routed.map((service) => [service.manifest.id, service]));
  const inDollars = site.rails.filter(({ currency }) => currency === "usd");
  const rails = inDollars.length > 0 ? inDollars : site.rails;
  const networks = [...new Set(rails.map(({ network }) => network))];
  const titles = new Map(site.rails.map(({ network, asset, title }) => [`${network} ${asset}`, title]));
  const payable = rails.map(({ title }) => title).join(" or ");
  const inline = createSchemaInliner(services, schemas);
  const writeChallenge = createChallengeWriter();

  return {
    list: (version) => services.map((service) => toTool(service, { inline, payable, version })),
    async call(call) {
      const service = byName.get(call.name);
      if (!service) {
        const named = services.map(({ manifest }) => manifest.id);
        const said = `Unknown tool: ${JSON.stringify(call.name.slice(0, 80))}${didYouMean(call.name, named)}`;
        return protocolError(RPC_CODES.invalidParams, said);
      }
      const { args, payment, signIn, exchange, requestId, signal, bytes, json, version, write } = call;
      const input = async () => ({ value: args, from: "body" as const, json: () => json });
      try {
        const { price, free } = service.manifest;
        const isFree = price === undefined || (free !== undefined && signIn !== undefined);
        checkMessageBytes(service, bytes, payment === undefined && !isFree);
        const outcome = await invoke(service, {
          id: requestId,
          input,
          payment,
          signIn,
          resource: endpoint,
          networks,
          signal,
          exchange,
          door: "mcp",
        });
        const note = { service: call.name, ...(outcome.receipt && { receipt: outcome.receipt }) };
        if (outcome.kind === "result") {
          const { output, receipt, asset, isRepeat } = outcome;
          const given = {
            output,
            file: toFile(service.manifest, output),
            blocks: toBlocks(service.manifest, output),
            receipt,
          };
          const result = write(toPaidResult(given, version));
          return { result, call: { ...note, ...(asset && { asset }), ...(isRepeat && { isRepeat }) } };
        }
        const { challenge, receipt } = outcome;
        const sold = { manifest: service.manifest, titles };
        const result = call.version1
          ? write(toVersion1Result(challenge, sold, receipt))
          : receipt
            ? write(toChallengeResult(challenge, sold, receipt))
            : writeChallenge(challenge, sold, call);
        return { result, call: { ...note, challenge } };
      } catch (error) {
        const problem = Problem.from(error);
        const receipt = problem.options.receipt as SettleResponse | undefined; // Set when money has moved although the call failed.
        const note = { service: call.name, problem, ...(receipt && { receipt }) };
        return { result: write(toProblemResult(problem, requestId, receipt)), call: note };
      }
    },
  };
}

/** Writes each challenge once per version. */
function createChallengeWriter(): (challenge: Challenge, sold: Sold, call: ToolCall) => string {
  const written = new WeakMap<Challenge, Map<McpVersion, string>>();
  return (challenge, sold, { version, write }) => {
    const texts = written.get(challenge) ?? new Map<McpVersion, string>();
    const text = texts.get(version) ?? write(toChallengeResult(challenge, sold));
    written.set(challenge, texts.set(version, text));
    return text;
  };
}

/**
 * A failure that is not about payment. It has no `structuredContent`, because clients would validate it against the
 * output schema.
 */
function toProblemResult(problem: Problem, requestId: string, receipt: SettleResponse | undefined): object {
  const content = [{ type: "text", text: JSON.stringify(toProblemDocument(problem, requestId)) }];
  return { content, isError: true, ...(receipt && { _meta: { [MCP_KEYS.receipt]: receipt } }) };
}
