/** User: an account of 5.x. Its password is the key of its signatures, and so is kept as it is. */

/** Super may everything; Normal what its policies say. In the words of UserInfo. */
export type UserType = "Super" | "Normal";

/** A disabled user is refused. */
export type UserStatus = "enable" | "disable";

/** One account. */
export interface User {
  readonly username: string;
  readonly password: string;
  readonly userType: UserType;
  readonly userStatus: UserStatus;
}

/** In any case, as Apache reads them. */
export function userTypeOf(text: string): UserType | undefined {
  return wordOf(["Super", "Normal"], text);
}

/** In any case. */
export function userStatusOf(text: string): UserStatus | undefined {
  return wordOf(["enable", "disable"], text);
}

/** The word that `text` is, whatever its case; undefined: none of them. */
export function wordOf<const T extends string>(
  words: readonly T[],
  text: string,
): T | undefined {
  const lower = text.trim().toLowerCase();
  return words.find((it) => it.toLowerCase() === lower);
}
