/** The arguments of a program that is imported: some of them may be secrets. */

/** `--api-key`, with or without a value behind `=`; or `API_KEY=…`, as container runtimes take variables. */
const SECRET_WORD = /^(?:(-{1,2}[\w-]*(?:key|token|secret|password))(?:=|$)|(\w*(?:key|token|secret|password))=.)/i;

const SECRET_WAY = `a secret belongs in a variable that --env names; a program gets it by a shell: sh -c 'exec program "$TOKEN"'`;

/** What an argument is named, where that is like a credential. */
function secretName(word: string): string | undefined {
  const [, option, variable] = SECRET_WORD.exec(word) ?? [];
  return option ?? variable;
}

/** A program's arguments are written down as they are. A note for each that is named like a credential. */
export const toSecretNotes = (server: readonly string[]): string[] =>
  server.slice(1).flatMap((word) => {
    const name = secretName(word);
    return name === undefined ? [] : [`what ${name} holds stands in _site.yaml, which is committed: ${SECRET_WAY}`];
  });

/** The server as the notes of the import name it, which are committed, too: without such values. */
export const toNamed = (server: readonly string[]): string =>
  server
    .map((word, at) => {
      if (word.includes("=") && secretName(word) !== undefined) return `${secretName(word)}=...`;
      const before = server[at - 1] ?? "";
      return secretName(before) !== undefined && !before.includes("=") ? "..." : word;
    })
    .join(" ");
