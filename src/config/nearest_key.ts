/** nearestKey: what somebody may have meant by a key that does not exist. */

/** The known name that is at most three edits (and a quarter of its length) away. */
export function nearestKey(
  name: string,
  known: Iterable<string>,
): string | undefined {
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.floor(name.length / 4)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

/** Levenshtein's distance over UTF-16 units. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a.charCodeAt(row - 1) === b.charCodeAt(column - 1);
      current.push(Math.min(
        previous[column]! + 1,
        current[column - 1]! + 1,
        previous[column - 1]! + (isSame ? 0 : 1),
      ));
    }
    previous = current;
  }
  return previous[b.length]!;
}
