import type { CommandPlace, NextWord } from "./places.ts";

/** Makes a shell's completion script. */
type ToScript = (places: readonly CommandPlace[]) => string;

/** The scripts, by shell. */
export const SCRIPTS: Readonly<Record<"bash" | "zsh" | "fish", ToScript>> = { bash: toBash, zsh: toZsh, fish: toFish };

function toBash(places: readonly CommandPlace[]): string {
  const cases = places.map(({ path, words }) => `    ${quote(path)}) all=${quote(words.map(toText).join(" "))} ;;`);
  return `# payphone's completion for bash. In ~/.bashrc: eval "$(payphone completion bash)"
_payphone() {
  local at="" all="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
${toStep(places, "COMP_WORDS[i]")}
  done
  case "$at" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$all" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _payphone payphone
`;
}

function toZsh(places: readonly CommandPlace[]): string {
  const toEntry = ({ text, description }: NextWord): string => quote(`${text}:${description.replaceAll(":", "\\:")}`);
  const cases = places.map(({ path, words }) => `    ${quote(path)}) all=(${words.map(toEntry).join(" ")}) ;;`);
  return `#compdef payphone
# payphone's completion for zsh. In ~/.zshrc, after compinit: eval "$(payphone completion zsh)"
_payphone() {
  local at="" i
  local -a all
  for ((i = 2; i < CURRENT; i++)); do
${toStep(places, "words[i]")}
  done
  case "$at" in
${cases.join("\n")}
  esac
  _describe payphone all || _files
}
compdef _payphone payphone
`;
}

/** Enters a command when the word is one; any other word is an option or an argument. */
function toStep(places: readonly CommandPlace[], word: string): string {
  const known = places
    .filter(({ path }) => path !== "")
    .map(({ path }) => quote(path.includes(" ") ? path : ` ${path}`));
  return `    case "$at \${${word}}" in
      ${known.join(" | ")}) at="\${at:+$at }\${${word}}" ;;
    esac`;
}

function toFish(places: readonly CommandPlace[]): string {
  const known = places.filter(({ path }) => path !== "").map(({ path }) => quote(path));
  const lines = places.flatMap(({ path, words }) =>
    words.map(({ text, description }) => {
      const what = text.startsWith("--") ? `-l ${text.slice(2)}` : `-a ${text}`;
      return `complete -c payphone -n ${quote(`test (__payphone_at) = "${path}"`)} ${what} -d ${quote(description)}`;
    }),
  );
  return `# payphone's completion for fish: payphone completion fish > ~/.config/fish/completions/payphone.fish
function __payphone_at
  set -l at ""
  for word in (commandline -opc)[2..]
    switch (string trim "$at $word")
      case ${known.join(" ")}
        set at (string trim "$at $word")
    end
  end
  echo "$at"
end
${lines.join("\n")}
`;
}

const toText = ({ text }: NextWord): string => text;

/** Quotes a text for all three shells. */
const quote = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;
