/** AllocateMessageQueueAveragely: which queues of a topic each member of a group gets. */

/**
 * The part of `queues` that belongs to `me`: runs of equal length, the first
 * ones longer by one where it does not divide. Every member must bring both
 * lists in the same order. Empty when `me` is not in `members`.
 */
export function allocateMessageQueueAveragely<T>(
  queues: readonly T[],
  members: readonly string[],
  me: string,
): T[] {
  const index = members.indexOf(me);
  if (index < 0) return [];
  const size = Math.floor(queues.length / members.length);
  const longer = queues.length % members.length;
  const start = index * size + Math.min(index, longer);
  return queues.slice(start, start + size + (index < longer ? 1 : 0));
}
