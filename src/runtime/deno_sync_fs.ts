/** `syncFs` through Deno.dlopen, on Deno's pool of blocking calls. */
import { cLibraryNames } from "./posix_lock.ts";

/** True when everything of the descriptor's file system was written. */
export async function syncFs(descriptor: number): Promise<boolean> {
  const library = openCLibrary();
  return await library?.symbols.syncfs(descriptor) === 0;
}

type CLibrary = ReturnType<typeof open>;
let opened: CLibrary | undefined;

function open(name: string) {
  return Deno.dlopen(name, {
    syncfs: { parameters: ["i32"], result: "i32", nonblocking: true },
  });
}

/** The first library that has the function; it stays open. */
function openCLibrary(): CLibrary | undefined {
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  for (const name of cLibraryNames(Deno.build.os, arch)) {
    try {
      return opened ??= open(name);
    } catch {
      // Of another C library.
    }
  }
  return undefined;
}
