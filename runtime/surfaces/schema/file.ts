import type { Service } from "../../core/service.ts";

/** The schema of the bytes that a service answers (OpenAPI 3.1, section 4.8.14.3); undefined when it answers JSON. */
export const toFileSchema = ({ manifest, job }: Service): object | undefined =>
  manifest.media && !job
    ? { type: "string", contentMediaType: manifest.media.type, description: "The file." }
    : undefined;
