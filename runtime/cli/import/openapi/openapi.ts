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
import { onlyRedirects, readResponse } from "./answers.ts";
import type { Operation } from "./operations.ts";
import { readParameters } from "./parameters.ts";
import type { Pointers } from "./pointers.ts";
import type { ReadDocument } from "./read-document.ts";
import { readRequestBody } from "./request-body.ts";
import { createSchemaBook, type SchemaBook } from "./schema/book.ts";
import { type OperationParts, toExampleInputs, toOperationManifest } from "./service.ts";
import { credentialFields, failureFields, isUntold, mayBeBase64 } from "./telling-fields.ts";
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
      const all = draftsOf(sold);
      return [
        ...upstreams.notes,
        ...noteOf(
          all.filter(({ parts }) => upstreams.asksForOthers(parts.operation.security)).map(({ parts }) => parts.id),
          (ids) =>
            `the API asks for other credentials than those that are sent: ${ids}; where these can be sent, import such operations alone, with an --upstream of their own`,
        ),
        ...toClashNotes(
          upstream,
          ids,
          all.map(({ parts }) => parts.operation),
        ),
        ...toCutNote(all.map(({ parts }) => [parts.id, parts.operation.description])),
        ...toNotes(all, pointers),
        // Documents are often wrong about their answers, and what does not fit is not sold.
        ...noteOf(
          [...misfits].filter(([id]) => sold.has(id)).map(([id, why]) => `${id} (${why})`),
          (ids) =>
            `the document's examples of answers do not fit its own schemas; answers like them are refused, although the API has done its work: ${ids}`,
        ),
        // Last, since there may be hundreds.
        ...toSharedNotes(
          all.flatMap(({ parts: { operation, request } }) =>
            request.notes.map((note) => [operation.name, note] as const),
          ),
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

/** Notes about what buyers of these services may meet. */
function toNotes(drafts: readonly Draft[], pointers: Pointers): string[] {
  const idsOf = (isMeant: (parts: OperationParts) => boolean): string[] =>
    drafts.flatMap(({ parts }) => (isMeant(parts) ? [parts.id] : []));
  // Only calls that may change something: their effect stays, although nobody pays for it.
  const unsold = drafts.flatMap(({ parts: { id, operation, answer } }) =>
    operation.method !== "GET" && answer.unsold ? [`${id} (${answer.unsold.join(", ")})`] : [],
  );
  const asking = drafts.flatMap(({ parts: { id, body } }) => {
    const fields = credentialFields(body, pointers);
    return fields.length > 0 ? [`${id} (${fields.join(", ")})`] : [];
  });
  const failing = drafts.flatMap(({ parts }) => {
    const fields = failureFields(parts.answer, pointers);
    return fields.length > 0 ? [`${parts.id} (${fields.join(", ")})`] : [];
  });
  return [
    ...noteOf(
      idsOf(({ operation, price }) => operation.method === "POST" && price !== undefined),
      (ids) =>
        `POST may leave traces, so it is paid first: ${ids}; where one only reads, say "readOnly: true" under hints and take "charge" out`,
    ),
    ...noteOf(
      idsOf(({ answer }) => isUntold(answer, pointers)),
      (ids) => `the document does not say what these answer, and any answer is sold; say it under output: ${ids}`,
    ),
    ...noteOf(
      idsOf(({ operation, body }) => mayBeBase64(operation, body, pointers)),
      (ids) => `the bytes of a file are sent: ${ids}; where the API takes its base64 instead, say "encoding: text"`,
    ),
    ...noteOf(
      idsOf(({ answer }) => answer.mayStream === true),
      (ids) =>
        `calls that ask for a stream fail, because JSON is sold: where a field of the input does so, such as "stream", allow only false ("enum: [false]"): ${ids}`,
    ),
    ...noteOf(
      idsOf(({ operation }) => onlyRedirects(operation)),
      (ids) =>
        `the document describes no answers but redirects, which are followed only for a GET and within the API's own address, so that other calls fail: ${ids}`,
    ),
    ...noteOf(
      unsold,
      (ids) =>
        `good answers of another form than the one that is sold are not charged, although the API has done its work: ${ids}`,
    ),
    ...noteOf(
      asking,
      (ids) =>
        `buyers are asked for what may be your credential: ${ids}; where the API takes it in a header or the query, name it there under the upstream's key, and take the field out of the input`,
    ),
    ...noteOf(
      failing,
      (ids) =>
        `answers may report a failure with a good status, and are charged: ${ids}; where they do, say so under answer ("failed: /success == false")`,
    ),
  ];
}
