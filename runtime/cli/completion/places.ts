import type { Command } from "commander";

export interface NextWord {
  /** A command, or an option with its dashes. */
  readonly text: string;
  readonly description: string;
}

/** The words that may follow some commands. */
export interface CommandPlace {
  /** The commands typed so far: `` or `peer hello`. */
  readonly path: string;
  readonly words: readonly NextWord[];
}

/** All places of a command line, starting with the program itself. */
export function listPlaces(command: Command, path = ""): readonly CommandPlace[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const options = help.visibleOptions(command).map(({ long, short, description }) => {
    return { text: long ?? short ?? "", description };
  });
  const words = [...commands.map((inner) => ({ text: inner.name(), description: inner.description() })), ...options];
  const inner = commands
    .filter((one) => one.name() !== "help")
    .flatMap((one) => listPlaces(one, path === "" ? one.name() : `${path} ${one.name()}`));
  return [{ path, words: words.filter(({ text }) => text !== "") }, ...inner];
}
