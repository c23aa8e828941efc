import type { Tools } from "../../../../../runtime/surfaces/mcp/methods.ts";
import { protocolError } from "../../../../../runtime/surfaces/mcp/request.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const text = (said: string) => ({ type: "text", text: said });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const embed = (uri: string, mimeType: string, content: string) => ({
  type: "resource",
  resource: { uri, mimeType, text: content },
});

/** The conformance suite's own tools, by the names and with the answers that its scenarios ask for. */
const ANSWERS: Readonly<Record<string, { readonly content: readonly object[]; readonly isError?: boolean }>> = {
  test_simple_text: { content: [text("This is a simple text response for testing.")] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] },
  test_embedded_resource: {
    content: [embed("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  },
  test_multiple_content_types: {
    content: [
      text("Multiple content types test:"),
      image,
      embed("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  },
  test_error_handling: { content: [text("This tool intentionally returns an error for testing")], isError: true },
  test_streaming_elicitation: { content: [text("Nothing was asked for.")] },
  test_logging_tool: { content: [text("Nothing was logged.")] },
  json_schema_2020_12_tool: { content: [text("Fine.")] },
};

/** From the scenario json-schema-2020-12. */
const RICH_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: {},
  additionalProperties: false,
};

/** Free tools that stand behind the real protocol layer, so that the suite's scenarios about tools can run. */
export const fixtureTools: Tools = {
  list: () =>
    [...Object.keys(ANSWERS), "test_missing_capability"].map((name) => ({
      name,
      description: `The conformance suite's ${name}`,
      inputSchema: name === "json_schema_2020_12_tool" ? RICH_SCHEMA : { type: "object", additionalProperties: false },
    })),
  async call({ name, write }) {
    const answer = ANSWERS[name];
    if (answer) return { result: write(answer) };
    if (name !== "test_missing_capability") return protocolError(-32602, `Unknown tool: ${name}`);
    const data = { requiredCapabilities: { sampling: {} } };
    return { status: 400, error: { code: -32021, message: "Missing required client capability", data } };
  },
};
