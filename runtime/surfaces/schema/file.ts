import { type Manifest, mediaOf } from "../../core/set/manifest.ts";

/** The schema of the bytes that a service answers (OpenAPI 3.1, section 4.8.14.3); undefined when it answers JSON. */
export function toFileSchema(manifest: Manifest): object | undefined {
  const media = mediaOf(manifest);
  return media && { type: "string", contentMediaType: media.type, description: "The file." };
}
