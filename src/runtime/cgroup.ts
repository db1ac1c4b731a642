/**
 * The memory limit of a Linux control group, v1 or v2.
 *
 * `/proc/self/cgroup` has one line per hierarchy, `id:controllers:path`; v2 is
 * the line with id 0 and no controllers. Every group above limits as well.
 */

const MOUNT = "/sys/fs/cgroup";

/** Reads a small text file; undefined when it cannot be read. */
export type ReadText = (path: string) => string | undefined;

/** The lowest limit in bytes that applies to this process; Infinity for none. */
export function cgroupMemoryLimit(readText: ReadText): number {
  let limit = Infinity;
  for (const line of (readText("/proc/self/cgroup") ?? "").split("\n")) {
    const [id, controllers, ...rest] = line.split(":");
    const path = rest.join(":");
    const isV1 = controllers?.split(",").includes("memory") ?? false;
    if (isV1) {
      const files = limitFiles(
        `${MOUNT}/memory`,
        path,
        "memory.limit_in_bytes",
      );
      limit = Math.min(limit, lowest(files, readText));
    } else if (id === "0" && controllers === "") {
      const files = limitFiles(MOUNT, path, "memory.max");
      limit = Math.min(limit, lowest(files, readText));
    }
  }
  return limit;
}

/** From the mount point down to the process's own group. */
function limitFiles(mount: string, path: string, file: string): string[] {
  const files = [`${mount}/${file}`];
  let folder = mount;
  for (const name of path.split("/").filter((it) => it !== "")) {
    folder += `/${name}`;
    files.push(`${folder}/${file}`);
  }
  return files;
}

function lowest(files: readonly string[], readText: ReadText): number {
  let limit = Infinity;
  for (const file of files) {
    const value = Number.parseInt(readText(file) ?? "", 10);
    // v2 says "max" for none, v1 a number beyond any memory.
    if (value > 0) limit = Math.min(limit, value);
  }
  return limit;
}
