import { noteOf } from "../names.ts";
import { onlyRedirects } from "./answers.ts";
import type { Pointers } from "./pointers.ts";
import type { OperationParts } from "./service.ts";
import { credentialFields, failureFields, isUntold, mayBeBase64 } from "./telling-fields.ts";

/** Notes about what buyers of these services may meet. */
export function toServiceNotes(sold: readonly OperationParts[], pointers: Pointers): string[] {
  const idsOf = (isMeant: (parts: OperationParts) => boolean): string[] =>
    sold.flatMap((parts) => (isMeant(parts) ? [parts.id] : []));
  // Only calls that may change something: their effect stays, although nobody pays for it.
  const unsold = sold.flatMap(({ id, operation, answer }) =>
    operation.method !== "GET" && answer.unsold ? [`${id} (${answer.unsold.join(", ")})`] : [],
  );
  const asking = sold.flatMap(({ id, body }) => {
    const fields = credentialFields(body, pointers);
    return fields.length > 0 ? [`${id} (${fields.join(", ")})`] : [];
  });
  const failing = sold.flatMap(({ id, answer }) => {
    const fields = failureFields(answer, pointers);
    return fields.length > 0 ? [`${id} (${fields.join(", ")})`] : [];
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
