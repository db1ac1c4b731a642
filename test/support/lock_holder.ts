/** Takes the lock named by its argument, says so, and keeps it until it is killed. */
import { openRuntime } from "#runtime";

const { fileSystem, process, clock } = openRuntime();
try {
  fileSystem.lock(process.args[0]!);
  process.write("stdout", "locked\n");
  clock.every(1000, () => {}); // Keeps the process alive.
} catch (error) {
  process.write("stdout", `${(error as Error).message}\n`);
}
