/** The file by which tools know who they are: mqadmin's conf/tools.yml. */
import { z } from "zod";
import type { SessionCredentials } from "../protocol/request_signature.ts";
import { parseYaml } from "./yaml_file.ts";

const KEY = z.string({ error: "give a text" }).trim().min(1, {
  error: "give a text",
});

const FILE = z.object({ accessKey: KEY, secretKey: KEY }, {
  error: "give the keys accessKey and secretKey",
});

/** Reads a file's text. Throws AclFileError. */
export function parseCredentials(text: string): SessionCredentials {
  return parseYaml(text, FILE);
}
