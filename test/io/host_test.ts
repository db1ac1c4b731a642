import { assert, assertEquals, assertGreater } from "@std/assert";
import { describe, it } from "node:test";
import process from "node:process";
import { cgroupMemoryLimit } from "../../src/runtime/cgroup.ts";
import { openFilesLimit } from "../../src/runtime/open_files_limit.ts";
import { openRuntime } from "#runtime";

/** A machine of these files. */
const files = (texts: Record<string, string>) => (path: string) => texts[path];

describe("Host", () => {
  it("knows its process and its machine", () => {
    const { host } = openRuntime();
    assertEquals(host.pid, process.pid);
    assert(host.hostname().length > 0);
    assertGreater(host.cpuCount(), 0);
    assertGreater(host.residentBytes(), 1024 * 1024);
    assertGreater(host.memoryLimitBytes(), host.residentBytes());
    assertGreater(host.cpuSeconds(), 0);
    assertGreater(host.openFilesMax(), 0);
  });

  it("lists addresses with their family", () => {
    const addresses = openRuntime().host.addresses();
    const loopback = addresses.find((it) => it.address === "127.0.0.1");
    assertEquals(loopback?.family, 4);
    assertEquals(loopback?.isLoopback, true);
  });
});

describe("openFilesLimit()", () => {
  const limits = (soft: string) =>
    files({
      "/proc/self/limits":
        "Limit                     Soft Limit           Hard Limit           Units     \n" +
        `Max processes             31190                31190                processes \n` +
        `Max open files            ${soft}                 4096                 files     \n`,
    });

  it("is the soft limit", () => {
    assertEquals(openFilesLimit(limits("512")), 512);
  });

  it("is Infinity where nothing limits, or nobody tells", () => {
    assertEquals(openFilesLimit(limits("unlimited")), Infinity);
    assertEquals(openFilesLimit(() => undefined), Infinity);
  });
});

describe("cgroupMemoryLimit()", () => {
  it("takes the lowest limit from the process's group up (v2)", () => {
    const limit = cgroupMemoryLimit(files({
      "/proc/self/cgroup": "0::/a/b\n",
      "/sys/fs/cgroup/a/memory.max": "268435456\n",
      "/sys/fs/cgroup/a/b/memory.max": "max\n",
    }));
    assertEquals(limit, 268435456);
  });

  it("takes the mount point's limit in a container (v2)", () => {
    const limit = cgroupMemoryLimit(files({
      "/proc/self/cgroup": "0::/\n",
      "/sys/fs/cgroup/memory.max": "134217728\n",
    }));
    assertEquals(limit, 134217728);
  });

  it("reads the memory controller's hierarchy (v1)", () => {
    const limit = cgroupMemoryLimit(files({
      "/proc/self/cgroup": "5:cpu,cpuacct:/x\n3:memory:/docker/1\n",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      "/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "536870912\n",
    }));
    assertEquals(limit, 536870912);
  });

  it("is Infinity where nothing limits", () => {
    assertEquals(cgroupMemoryLimit(() => undefined), Infinity);
  });
});
