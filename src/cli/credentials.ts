/** credentialsOf: by which account the tools sign; a secret on the command line would be seen by others. */
import { environmentNameOf } from "../config/config_sources.ts";
import type { SessionCredentials } from "../protocol/request_signature.ts";
import type { CliContext } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { FileError } from "../io/file_system.ts";
import { readTextFile } from "./files.ts";
import type { ClientFlags } from "./options.ts";

/** The file, else the variables; undefined: nothing is signed. Throws CliError. */
export async function credentialsOf(
  context: CliContext,
  { credentials }: ClientFlags,
): Promise<SessionCredentials | undefined> {
  if (credentials !== undefined) return await readFile(context, credentials);
  const { env } = context.process;
  const [accessName, secretName] = ["accessKey", "secretKey"].map(
    environmentNameOf,
  );
  const accessKey = env[accessName!] ?? "";
  const secretKey = env[secretName!] ?? "";
  if (accessKey === "" && secretKey === "") return undefined;
  if (accessKey !== "" && secretKey !== "") return { accessKey, secretKey };
  const [set, missing] = accessKey === ""
    ? [secretName, accessName]
    : [accessName, secretName];
  throw new CliError(`${set} is set: set ${missing} too`, 2);
}

async function readFile(
  { runtime }: CliContext,
  path: string,
): Promise<SessionCredentials> {
  const { parseCredentials } = await import("../auth/credentials_file.ts");
  const { AclFileError } = await import("../auth/yaml_file.ts");
  try {
    return parseCredentials(readTextFile(runtime.fileSystem, path));
  } catch (error) {
    if (error instanceof AclFileError || error instanceof FileError) {
      throw new CliError(
        `Cannot use --credentials ${path}: ${error.message}`,
        2,
      );
    }
    throw error;
  }
}
