import { Argument, type Command } from "commander";

const HELP = `
Examples:
  eval "$(payphone completion bash)"
  payphone completion fish > ~/.config/fish/completions/payphone.fish
`;

/** `completion`: prints a shell's completion script. */
export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print the script with which a shell completes payphone's commands and options")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .addHelpText("after", HELP)
    .action(async (shell: "bash" | "zsh" | "fish") => {
      const [{ listPlaces }, { SCRIPTS }] = await Promise.all([
        import("../completion/places.ts"),
        import("../completion/scripts.ts"),
      ]);
      process.stdout.write(SCRIPTS[shell](listPlaces(program)));
    });
}
