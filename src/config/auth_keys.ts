/** Keys of access control in 5.x's way: users and policies that requests change. */
import { z } from "zod";
import { flag, text } from "./config_key.ts";

/** Apache's class that does what happens here; a class of one's own cannot be loaded. */
function provider(className: string, doc: string) {
  return text("", `${doc}; empty or Apache's ${className}`, {
    errorOf: (value) =>
      value === "" || value.split(".").at(-1) === className
        ? undefined
        : `give ${className}, or nothing: Java classes cannot be loaded here`,
  });
}

function whitelist(what: string) {
  return text("", `Request codes, with commas between, that need no ${what}`, {
    errorOf: (value) =>
      /^\s*(?:\d+\s*(?:,\s*\d+\s*)*,?\s*)?$/.test(value)
        ? undefined
        : "give request codes with commas between, as 10,310",
  });
}

const NAME = z.string().trim().min(1);

/** A strategy differs in what Apache caches. */
function strategy(what: string) {
  return text(
    "",
    `Stateless${what}Strategy or Stateful${what}Strategy: the same here`,
    {
      errorOf: (value) =>
        value === "" ||
          [`Stateless${what}Strategy`, `Stateful${what}Strategy`].includes(
            value.split(".").at(-1)!,
          )
          ? undefined
          : `give Stateless${what}Strategy or nothing: Java classes cannot be loaded here`,
    },
  );
}

/** Reads `{"accessKey":…,"secretKey":…}`; undefined when the text is something else. */
export function readInnerCredentials(
  value: string,
): { readonly accessKey: string; readonly secretKey: string } | undefined {
  return readJson(value, z.object({ accessKey: NAME, secretKey: NAME }));
}

/** Reads `{"username":…,"password":…}`; undefined when the text is something else. */
export function readInitUser(
  value: string,
): { readonly username: string; readonly password: string } | undefined {
  return readJson(value, z.object({ username: NAME, password: NAME }));
}

function readJson<T>(value: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(value)).data;
  } catch {
    return undefined;
  }
}

/** Users, policies, and who this broker is to others. */
export const AUTH_KEYS = {
  authenticationEnabled: flag(
    false,
    "Requests must be signed by a user of this broker (5.x); users are kept in config/auth.json",
  ),
  authorizationEnabled: flag(
    false,
    "Users may what their policies allow; super users may everything",
  ),
  authenticationProvider: provider(
    "DefaultAuthenticationProvider",
    "Who looks at signatures",
  ),
  authenticationMetadataProvider: provider(
    "LocalAuthenticationMetadataProvider",
    "Where users are",
  ),
  authenticationStrategy: strategy("Authentication"),
  authenticationWhitelist: whitelist("signature"),
  authorizationProvider: provider(
    "DefaultAuthorizationProvider",
    "Who looks at policies",
  ),
  authorizationMetadataProvider: provider(
    "LocalAuthorizationMetadataProvider",
    "Where policies are",
  ),
  authorizationStrategy: strategy("Authorization"),
  authorizationWhitelist: whitelist("policy"),
  initAuthenticationUser: text(
    "",
    'A super user that is made at the start if it is not there: {"username":"…","password":"…"}',
    {
      isSecret: true,
      errorOf: (value) =>
        value === "" || readInitUser(value) !== undefined
          ? undefined
          : 'give JSON as {"username":"…","password":"…"}',
    },
  ),
  innerClientAuthenticationCredentials: text(
    "",
    'By whom this broker\'s own requests are signed, and with which secret passwords are sealed: {"accessKey":"…","secretKey":"…"}; made as a super user at the start',
    {
      isSecret: true,
      errorOf: (value) =>
        value === "" || readInnerCredentials(value) !== undefined
          ? undefined
          : 'give JSON as {"accessKey":"…","secretKey":"…"}',
    },
  ),
  migrateAuthFromV1Enabled: flag(
    false,
    "Accounts of plainAclFile that are no users yet become users at the start",
  ),
} as const;
