import { definePlugin, isBlank, Problem, toValueError, type ValidationIssue } from "#plugin";
import { createReadPage } from "./page.ts";
import { createSummarize } from "./summary.ts";

/** The longest text, in Unicode code points. The schema has the same limit for `text`. */
const MOST_CHARACTERS = 200_000;

/** Summarizes a text, or the page at a URL, in 3 to 5 bullets (/v1/tldr). */
export default definePlugin("tldr", async ({ llm, site, web }) => {
  const readPage = createReadPage({ site, web });
  const summarize = await createSummarize(llm);
  return {
    tldr: {
      check(input) {
        const issue = findIssue(input);
        if (issue) throw new Problem("invalid-input", undefined, { issues: [issue] });
      },

      async run({ text, url }, { service, signal }) {
        const source = text ?? (await readPage(url ?? "", signal)); // `check` guarantees that one of them is present.
        const source_chars = [...source].length;
        if (source_chars > MOST_CHARACTERS) throw toTooLong(source_chars);
        return { summary_bullets: await summarize(source, { service, signal }), source_chars };
      },
    },
  };
});

interface Input {
  readonly text?: string | null;
  readonly url?: string | null;
}

function findIssue(input: Input): ValidationIssue | undefined {
  const { text, url } = input;
  if (typeof text === "string" && typeof url === "string")
    return toValueError("text and url are both there; send one of them", input);
  if (typeof text === "string") return isBlank(text) ? toValueError("text must not be blank", text, "text") : undefined;
  if (typeof url !== "string") return toValueError("send the text, or the url where it is", input);
  const { protocol, username, password } = URL.parse(url) ?? { protocol: "", username: "", password: "" };
  if (/^https?:$/.test(protocol) && username === "" && password === "") return undefined;
  return toValueError("url must be an http or https URL without a user name", url, "url");
}

const toTooLong = (characters: number): Problem =>
  new Problem(
    "unparseable-input",
    `The text at the URL has ${characters} characters; at most ${MOST_CHARACTERS} are summarized`,
  );
