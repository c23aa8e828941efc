import type { JsonObject } from "../../../core/json.ts";
import { createCompiler } from "../../../core/schema/validator.ts";
import { findExample } from "../example-inputs.ts";
import {
  type Imported,
  type ImportedService,
  type LeftOut,
  MANY,
  Refused,
  type Say,
  toReason,
  type UpstreamEntry,
} from "../imported.ts";
import { createNames, noteOf, toClashNotes, toCutNote, toServiceId, toSharedNotes } from "../names.ts";
import { readResponse } from "./answers.ts";
import { toServiceNotes } from "./notes.ts";
import type { Operation } from "./operations.ts";
import { readParameters } from "./parameters.ts";
import type { Pointers } from "./pointers.ts";
import type { ReadDocument } from "./read-document.ts";
import { readRequestBody } from "./request-body.ts";
import { createSchemaBook, type SchemaBook } from "./schema/book.ts";
import { type OperationParts, toExampleInputs, toOperationManifest } from "./service.ts";
import { readUpstreams, type UpstreamBook } from "./upstreams.ts";

export interface OpenApiImport {
  readonly read: ReadDocument;
  readonly pointers: Pointers;
  /** All operations of the document, since ids depend on their order and not on the selection. */
  readonly operations: readonly Operation[];
  readonly chosen: readonly Operation[];
  /** The id of the upstream. */
  readonly upstream: string;
  /** US dollars; undefined for free services. */
  readonly price: string | undefined;
  /** Hears how far a long import is. */
  readonly say?: Say | undefined;
}

/** A service without its example. */
interface Draft {
  readonly parts: OperationParts;
  readonly manifest: ReturnType<typeof toOperationManifest>;
  readonly upstream: UpstreamEntry;
}

/** The chosen operations as services. Operations that cannot be sold are listed under `refused`. */
export async function importOperations(options: OpenApiImport): Promise<Imported> {
  const { read, pointers, operations, chosen, upstream, price, say } = options;
  const { document, source, url } = read;
  const upstreams = readUpstreams(document, { id: upstream, url, pointers, chosen });
  const book = createSchemaBook(document, pointers, upstream);
  const claim = createNames();
  const ids = new Map(operations.map((operation) => [operation, claim(toServiceId(upstream, operation.name), "_")]));
  const refused: LeftOut[] = [];
  const drafts = chosen.flatMap((operation): Draft[] => {
    try {
      return [readOne(operation, { id: ids.get(operation) ?? "", price, pointers, book, upstreams })];
    } catch (error) {
      refused.push({ name: operation.name, reason: toReason(error) });
      return [];
    }
  });
  const schemas = book.filesOf(drafts.flatMap(({ manifest }) => [manifest.input, manifest.output]));
  const misfits = new Map<string, string>();
  const services = await addExamples(drafts, schemas, { refused, misfits, say });
  const draftsOf = (sold: ReadonlySet<string>): readonly Draft[] =>
    drafts.filter(({ manifest }) => sold.has(manifest.id));
  const kept = draftsOf(new Set(services.map(({ manifest }) => manifest.id)));
  return {
    source,
    upstreams: [...new Set(kept.map((draft) => draft.upstream))],
    services,
    schemas: book.filesOf(kept.flatMap(({ manifest }) => [manifest.input, manifest.output])),
    refused,
    offered: [...ids.values()],
    notesOn(sold) {
      const all = draftsOf(sold).map(({ parts }) => parts);
      return [
        ...upstreams.notes,
        ...noteOf(
          all.filter(({ operation }) => upstreams.asksForOthers(operation.security)).map(({ id }) => id),
          (ids) =>
            `the API asks for other credentials than those that are sent: ${ids}; where these can be sent, import such operations alone, with an --upstream of their own`,
        ),
        ...toClashNotes(
          upstream,
          ids,
          all.map(({ operation }) => operation),
        ),
        ...toCutNote(all.map(({ id, operation }) => [id, operation.description])),
        ...toServiceNotes(all, pointers),
        // Documents are often wrong about their answers, and what does not fit is not sold.
        ...noteOf(
          [...misfits].filter(([id]) => sold.has(id)).map(([id, why]) => `${id} (${why})`),
          (ids) =>
            `the document's examples of answers do not fit its own schemas; answers like them are refused, although the API has done its work: ${ids}`,
        ),
        // Last, since there may be hundreds.
        ...toSharedNotes(
          all.flatMap(({ operation, request }) => request.notes.map((note) => [operation.name, note] as const)),
        ),
      ];
    },
  };
}

interface Reading {
  readonly id: string;
  readonly price: string | undefined;
  readonly pointers: Pointers;
  readonly book: SchemaBook;
  readonly upstreams: UpstreamBook;
}

function readOne(operation: Operation, { id, price, pointers, book, upstreams }: Reading): Draft {
  const { method } = operation;
  if (/^(?:HEAD|OPTIONS|TRACE)$/.test(method)) throw new Refused(`${method} has no answer that could be sold`);
  if (!/^(?:GET|POST|PUT|PATCH|DELETE)$/.test(method)) throw new Refused(`its method ${method} cannot be sent`);
  const upstream = upstreams.of(operation.servers);
  const request = readParameters(operation, pointers, (place, name) =>
    upstreams.isCredential(place, name, operation.servers),
  );
  const taken = request.fields.map((field) => field.name);
  const parts: OperationParts = {
    operation,
    id,
    upstream: upstream.id,
    request,
    body: readRequestBody(operation, pointers, taken),
    answer: readResponse(operation, pointers),
    price,
  };
  return { parts, manifest: toOperationManifest(parts, book), upstream };
}

interface Found {
  readonly refused: LeftOut[];
  /** Why the answers of services in the document do not fit their schema, by id. */
  readonly misfits: Map<string, string>;
  readonly say: Say | undefined;
}

/** Completes the manifests, and refuses services without an example. */
async function addExamples(
  drafts: readonly Draft[],
  schemas: ReadonlyMap<string, JsonObject>,
  { refused, misfits, say }: Found,
): Promise<ImportedService[]> {
  const compile = createCompiler(schemas);
  const services: ImportedService[] = [];
  for (const [at, { parts, manifest }] of drafts.entries()) {
    if (at > 0 && at % MANY === 0) say?.(`${at} of ${drafts.length} operations have been read`);
    const { name } = parts.operation;
    const { input, output, proxy } = manifest;
    const isFile = parts.answer.body.kind === "file";
    const terms = { proxy, input, output: isFile ? ANY : output, compile, documents: schemas };
    try {
      const found = await findExample(terms, toExampleInputs(parts, input), isFile ? [] : toOutputs(parts, manifest));
      services.push({ name, manifest: { ...manifest, examples: [found.example] }, isDerived: found.isDerived });
      if (found.misfit !== undefined) misfits.set(manifest.id, found.misfit);
    } catch (error) {
      refused.push({ name, reason: toReason(error) });
    }
  }
  return services;
}

const ANY = { type: "object" };

function toOutputs({ answer }: OperationParts, { proxy }: JsonObject): readonly unknown[] {
  if (answer.body.kind !== "json") return [];
  const wrap = (proxy as { answer?: { wrap?: string } }).answer?.wrap;
  return wrap === undefined ? answer.body.examples : answer.body.examples.map((value) => ({ [wrap]: value }));
}
