/** Ends a process that leads a group, and all that it has started, at once. */
export function killGroup(pid: number | undefined): void {
  try {
    if (pid) process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}
